package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/tools"
)

// A page is the input of the tools of these tests.
type page struct {
	Page string `json:"page"`
}

// look is a tool that reads. Calls of lookInTurn don't run in parallel, so that their results come
// in order.
var look, lookInTurn = tools.New(tools.Spec{Name: "site.showPage", ReadOnly: true}, showPage),
	tools.New(tools.Spec{Name: "site.showPage"}, showPage)

func showPage(_ context.Context, in page) (string, error) {
	if in.Page == "none" {
		return "", errors.New("there is no such page")
	}
	return "a page", nil
}

// remove is a tool of high risk, with a preview.
var remove = tools.Func[page, string]{
	Spec:  tools.Spec{Name: "site.deletePage", Risk: tools.High},
	Title: func(_ context.Context, in page) string { return fmt.Sprintf("Delete the page %q", in.Page) },
	Preview: func(context.Context, page) (string, error) {
		return "--- a/home\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-Welcome\n-\x1b[31mto us\n", nil
	},
	Run:  func(_ context.Context, in page) (string, error) { return in.Page + " is gone", nil },
	Undo: func(context.Context, page, string) error { return nil },
}

// move is a tool that asks, with a standing approval.
var move = tools.New(tools.Spec{Name: "site.movePage", Approval: tools.AskAlways, Risk: tools.Medium},
	func(_ context.Context, in page) (string, error) { return in.Page + " has moved", nil })

// question returns a tool that asks a question with this schema.
func question(schema string) tools.Tool {
	return tools.New(tools.Spec{Name: "ask"}, func(context.Context, struct{}) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Which one?", Schema: json.RawMessage(schema)}
	})
}
