package browser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// message returns an expression for a message of the user.
func message(text string) string {
	return `[...document.querySelectorAll(".user")].find(e => e.querySelector(".bubble")?.textContent === ` +
		quote(text) + `)`
}

func TestAMessageIsEditedAndAnsweredAgain(t *testing.T) {
	t.Parallel()
	var pages shelf
	create := providertest.Call("create_page", target{"jobs"})
	cfg := scripted(providertest.Say("One."), create, providertest.Say("Two."), providertest.Say("Three."),
		create, providertest.Say("Four."), providertest.Say("Five."))
	cfg.Tools = pages.tools()
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	say := func(text, answer string) {
		p.say(text)
		p.has(answer)
		p.status("Done")
	}
	edit := func(text string) {
		p.clickOn(message(text) + `.querySelector("button")`)
		p.wait(`document.activeElement.matches(".edit textarea")`)
	}
	say("First", "One.")
	say("Second", "Two.")
	say("Third", "Three.")

	edit("Second") // and changes their mind
	p.keys(" thoughts\x1b")
	p.wait(`!document.querySelector(".edit")`)
	p.wait(message("Second"))

	edit("Second")
	p.keys(" try\r")
	p.press(".undo-dialog", "Undo 1 change and send")
	p.has("Four.")
	p.status("Done")
	require.Equal(t, 1, pages.has(), "the first one is gone")
	want := []string{"user: First", "text: One.", "user: Second try", "call: Create page jobs: Done", "text: Four."}
	p.shows(want...)

	p.press(".turn", "Answer again")
	p.press(".undo-dialog", "Cancel")
	p.wait(`!document.querySelector(".undo-dialog").open`)
	p.shows(want...)
	p.press(".turn", "Answer again")
	p.press(".undo-dialog", "Leave it and send")
	p.has("Five.")
	p.status("Done")
	require.Equal(t, 1, pages.has())
	p.shows("user: First", "text: One.", "user: Second try", "text: Five.")
}
