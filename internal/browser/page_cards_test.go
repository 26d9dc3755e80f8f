package browser

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// A booking is the input of a tool with a form of several fields.
type booking struct {
	Room   string `json:"room" minLength:"1" description:"which room"`
	Guests int    `json:"guests" minimum:"1" maximum:"4"`
	Quiet  bool   `json:"quiet,omitempty"`
}

func TestThePageShowsTextReasoningAndTools(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(
		providertest.Reply(providertest.Think("I have to look."), providertest.Say("Let me look."),
			providertest.Call("look", object{"page": "home"})),
		providertest.Say("All **fine**.")))
	p := s.page("")
	p.say("How is it?")
	p.status("Done")
	require.Equal(t, "fine", p.text(`document.querySelector(".prose strong").textContent`))
	p.shows("user: How is it?", "reasoning: I have to look.", "text: Let me look.", "call: Look home: Done",
		"text: All fine.")
	p.click(".call summary")
	p.wait(`document.querySelector(".call .body").textContent.includes("saw home")`)
	p.calm()
}

func TestThePageSaysWhyAToolFailed(t *testing.T) {
	t.Parallel()
	cfg := scripted(providertest.Call("read", object{"page": "gone"}), providertest.Say("It is gone."),
		providertest.Fail(fault.Permanent), providertest.Say("Better."))
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "read", Description: "Read a page.", ReadOnly: true,
		NoRetries: true}, func(context.Context, target) (string, error) {
		return "", errors.New("the page doesn't exist")
	})}
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Read it.")
	p.has("It is gone.")
	require.Equal(t, "the page doesn't exist", p.text(`document.querySelector(".call .said").textContent`))
	p.status("Done") // else the run reads the next message, too
	p.say("And now?")
	p.status("Failed")
	p.press(".notice", "Send it again")
	p.status("Done")
	p.shows("user: Read it.", "call: Read gone: Failed", "text: It is gone.", "user: And now?",
		"text: Better.")
}

func TestThePageShowsTheLastLinesOfAProgramThatFailed(t *testing.T) {
	t.Parallel()
	cfg := scripted(providertest.Call("test", object{"page": "home"}), providertest.Say("It fails."))
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "test"}, func(context.Context, target) (tools.Result, error) {
		out := tools.Text("exit code 1\n" + strings.Repeat("ok\n", 20) + "FAIL")
		out.Exit = &tools.Exit{Code: 1}
		return out, nil
	})}
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Test it.")
	p.has("It fails.")
	require.Equal(t, strings.Repeat("ok\n", 9)+"FAIL", p.text(`document.querySelector(".call.danger .said").textContent`))
	p.status("Done")
	p.shows("user: Test it.", "call: Test home: exit code 1", "text: It fails.")
	p.click(".call summary")
	p.wait(`document.querySelector(".call .body").textContent.includes("ok\n".repeat(20) + "FAIL")`)
	p.calm()
}

func TestOfTwoApprovalsOneIsGivenAndOneRejectedWithAReason(t *testing.T) {
	t.Parallel()
	model := providertest.Script(providertest.Calls(deletes("a"), deletes("b")), providertest.Say("One is gone."))
	s := newSite(t, uimessage.V6, agent.Config{Provider: model})
	p := s.page("")
	p.say("Delete both.")
	p.status("Waits for you")
	at := p.middle(named(p.card("Delete “b”?"), "Approve"))
	// the second half of a double click on another card
	p.run(chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)))
	p.press(p.card("Delete “a”?"), "Approve")
	p.wait(`document.querySelectorAll(".card").length === 1`)
	b := p.card("Delete “b”?")
	p.press(b, "Reject with a reason")
	p.wait(`document.activeElement.matches(".card textarea")`)
	p.keys("It is linked from the start page.")
	p.press(b, "Reject")
	p.has("One is gone.")
	require.Equal(t, []string{"a"}, s.did())
	model.AssertSaw(t, 1, providertest.ToolResult("delete"))
	p.shows("user: Delete both.", "call: Delete a: Done", "call: Delete b: Rejected",
		"record: Approved by ann · Delete “a”", "record: Rejected by ann · Delete “b”", "text: One is gone.")
	p.clickOn(`document.querySelectorAll(".record summary")[1]`)
	p.has("It is linked from the start page.")
}

func TestAnEditIsCheckedWhileItIsTyped(t *testing.T) {
	t.Parallel()
	var got booking
	cfg := scripted(providertest.Call("book_room", booking{Room: "Blue", Guests: 2}), providertest.Say("Booked."))
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "book_room", Description: "Book a room.",
		Approval: tools.AskAlways}, func(_ context.Context, b booking) (string, error) {
		got = b
		return "booked", nil
	})}
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Book a room.")
	p.press(p.card("Book room “Blue”?"), "Edit")
	guests := `document.querySelectorAll(".card input[type=text]")[1]`
	for text, complaint := range map[string]string{"9": "At most 4.", "x": "Enter a number.",
		"1.5": "Enter a whole number.", "0": "At least 1."} {
		p.text(guests + `.select(), ""`)
		p.clickOn(guests)
		p.text(guests + `.select(), ""`)
		p.keys(text)
		p.wait(`document.querySelector(".card").textContent.includes(` + quote(complaint) + `)`)
		require.Equal(t, "true", p.text(guests+`.getAttribute("aria-invalid")`))
	}
	p.press(".card", "Approve with changes")
	p.wait(`document.activeElement === ` + guests) // it isn't sent, and the field has the focus
	p.text(guests + `.select(), ""`)
	p.keys("3")
	p.wait(guests + `.getAttribute("aria-invalid") === "false"`)
	p.click(".card input[type=checkbox]")
	p.press(".card", "Approve with changes")
	p.has("Booked.")
	require.Equal(t, booking{Room: "Blue", Guests: 3, Quiet: true}, got)
	p.shows("user: Book a room.", "call: Book room Blue: Done",
		"record: Approved with changes by ann · Book room “Blue”", "text: Booked.")
}

func TestAnApprovalExpiresBeforeTheReadersEyes(t *testing.T) {
	t.Parallel()
	cfg := scripted(providertest.Call("delete", object{"page": "a"}), providertest.Say("Too late."))
	cfg.PauseExpires = 5 * time.Second
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Delete.")
	p.wait(`/^[1-5](\.\d)? sec left$/.test(document.querySelector(".card .left.soon")?.textContent)`)
	p.has("Too late.")
	require.Empty(t, s.did())
	p.shows("user: Delete.", "call: Delete a: Rejected", "record: Nobody decided in time · Delete “a”",
		"text: Too late.")
}
