package tools_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/tools"
)

// A tool's Verify says what it expected and what it found. The model reads it, and the host gets it
// as data.
func ExampleMismatch() {
	type Page struct {
		ID string `json:"id"`
	}
	publish := tools.Func[Page, string]{
		Spec: tools.Spec{Name: "cms.publish"},
		Run:  func(context.Context, Page) (string, error) { return "published", nil },
		Verify: func(context.Context, Page, string) error {
			return tools.Mismatch{Expected: "the page to be public", Actual: "a draft",
				Suggestion: "Ask an editor to release it."}
		},
	}
	d, err := publish.Define()
	if err != nil {
		fmt.Println(err)
		return
	}
	out := tools.Execute(context.Background(), d, &tools.Call{Name: "cms.publish", Input: []byte(`{"id":"p1"}`)}, nil)
	fmt.Println(out.Status, "-", out.Mismatch.Suggestion)
	fmt.Println(out.Parts[0].Text)
	// Output:
	// unverified - Ask an editor to release it.
	// The call ran and reported success, but its effect couldn't be confirmed: expected the page to be public, but found a draft. Ask an editor to release it.
}
