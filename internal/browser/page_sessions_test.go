package browser

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// lists waits until the list of chats shows exactly these titles.
func (p *builtIn) lists(titles ...string) {
	p.t.Helper()
	want, err := json.Marshal(append([]string{}, titles...))
	require.NoError(p.t, err)
	p.wait(`JSON.stringify([...document.querySelectorAll(".session .title")].map(e => e.textContent)) === ` +
		quote(string(want)))
}

// reveal moves the focus to a chat in the list, which shows its buttons.
func (p *builtIn) reveal(title string) {
	p.t.Helper()
	link := `[...document.querySelectorAll(".session a")].find(a => a.querySelector(".title").textContent === ` +
		quote(title) + `)`
	p.wait(link)
	p.text(link + `.focus(), ""`)
}

func TestChatsAreFoundRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Say("One."), providertest.Say("Two.")))
	p := s.page("")
	p.lists()
	p.say("Paint the shed")
	p.has("One.")
	first := p.session()
	p.press(".sidebar", "New chat")
	p.say("Water the plants")
	p.has("Two.")
	second := p.session()
	require.NotEqual(t, first, second)
	p.lists("Water the plants", "Paint the shed")

	p.press(".top", "Rename")
	p.wait(`document.activeElement.matches(".session input")`)
	p.keys("Water the garden\r")
	p.lists("Water the garden", "Paint the shed")
	require.Eventually(t, func() bool { // the list shows it before the server has it
		info, err := s.hub.Agent().Session(second).Info(t.Context())
		return err == nil && info.Title == "Water the garden"
	}, patience, 5*time.Millisecond)
	p.reload()
	p.lists("Water the garden", "Paint the shed")
	p.wait(`document.querySelector("h1").textContent === "Water the garden"`)

	p.keys("/")
	p.wait(`document.activeElement.matches("input[type=search]")`)
	p.keys("SHED")
	p.lists("Paint the shed")
	p.keys("x")
	p.wait(`document.querySelector(".sessions").textContent.includes("No chat matches.")`)
	p.text(`document.activeElement.select(), ""`)
	p.keys("\b")
	p.lists("Water the garden", "Paint the shed")

	p.reveal("Paint the shed")
	p.press(".sidebar", "Delete: Paint the shed")
	p.lists("Water the garden")
	p.press(".toasts", "Undo")
	p.lists("Water the garden", "Paint the shed")
	p.reveal("Water the garden")
	p.press(".sidebar", "Delete: Water the garden")
	p.wait(`document.querySelector(".blank")`) // it was open
	p.run(chromedp.Navigate("about:blank"))    // leaves no time to undo
	require.Eventually(t, func() bool {
		_, err := s.hub.Agent().Session(second).Info(t.Context())
		return errors.Is(err, agent.ErrNothingOpen)
	}, patience, 5*time.Millisecond)
	p.visit(s.http.URL, "")
	p.lists("Paint the shed")
	p.click(".session a")
	p.has("One.")
	require.Equal(t, first, p.session())
	p.calm()

	p.visit(s.http.URL, second)
	p.wait(`document.body.textContent.includes("This chat can’t be shown")`)
	p.calm("404 (Not Found)")
}

func TestTheListShowsWhatOtherChatsDo(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Call("delete", object{"page": "a"}), providertest.Say("Gone.")))
	p := s.page("")
	p.say("Delete.")
	p.wait(`document.querySelector(".session .meta")?.textContent.startsWith("Waits for you")`)
	p.wait(`document.title.startsWith("(1) ")`)
	p.press(".card", "Approve")
	p.wait(`document.querySelector(".session .meta")?.textContent.startsWith("Done")`)
	p.wait(`!document.title.startsWith("(")`)
	p.calm()
}
