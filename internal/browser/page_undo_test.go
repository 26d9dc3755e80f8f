package browser

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// A shelf is where tools put pages, and take them away again.
type shelf struct {
	mu    sync.Mutex
	pages []string
}

func (s *shelf) tools() []tools.Tool {
	return []tools.Tool{
		tools.Func[target, string]{
			Spec: tools.Spec{Name: "create_page", Description: "Create a page."},
			Run: func(_ context.Context, in target) (string, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.pages = append(s.pages, in.Page)
				return "created", nil
			},
			Undo: func(context.Context, target, string) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.pages = s.pages[:len(s.pages)-1]
				return nil
			},
		},
		tools.New(tools.Spec{Name: "send_mail", Description: "Send a mail."},
			func(context.Context, target) (string, error) { return "sent", nil }),
	}
}

func (s *shelf) has() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pages)
}

func TestAnAnswerIsUndoneOnThePage(t *testing.T) {
	t.Parallel()
	var pages shelf
	cfg := scripted(
		providertest.Calls(providertest.CallSpec{Tool: "create_page", Input: target{"jobs"}},
			providertest.CallSpec{Tool: "send_mail", Input: target{"news"}}),
		providertest.Say("I made a page and told everybody."),
		providertest.Call("look", target{"home"}), providertest.Say("I only looked."))
	cfg.Tools = pages.tools()
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Make a page.")
	p.status("Done")
	const button, dialog = "Undo what this changed", ".undo-dialog"
	p.press(".turn", button)
	p.wait(`document.querySelector(".undo-dialog").open`)
	require.Equal(t, "Will be undoneCreate page “jobs”Stays as it isSend mail “news”The tool can't undo.",
		p.text(`document.querySelector(".undo-dialog .body").textContent`))
	p.press(dialog, "Cancel")
	p.wait(`document.activeElement.textContent === "Undo what this changed"`)
	require.Equal(t, 1, pages.has())

	p.press(".turn", button)
	p.press(dialog, "Undo 1 change")
	p.has("Undone as far as possible")
	require.Equal(t, 0, pages.has())
	p.wait(`!document.querySelector(".undo-dialog").open && !document.querySelector(".turn .undo")`)
	p.shows("user: Make a page.", "call: Create page jobs: Undone", "call: Send mail news: Done",
		"text: I made a page and told everybody.", "notice: Undone as far as possible. This is still in effect:")
	p.has("Send mail “news”The tool can't undo.")

	p.say("Look.")
	p.status("Done")
	p.has("I only looked.")
	require.Equal(t, "false", p.text(`String(Boolean(document.querySelector(".turn .undo")))`))
}
