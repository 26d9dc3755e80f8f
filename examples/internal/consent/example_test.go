package consent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/examples/internal/consent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func Example() {
	message := ""
	policy := consent.Policy(consent.Config{Said: func(context.Context, string) ([]provider.Message, []string, error) {
		return []provider.Message{provider.User(message)}, nil, nil
	}})
	for _, message = range []string{"Publish the page.", "Should we publish the page?"} {
		const name = "publish"
		d, err := tools.Func[struct{}, struct{}]{Spec: tools.Spec{Name: name, Description: "Changes the page."},
			Run: func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }}.Define()
		if err != nil {
			panic(err)
		}
		v := policy(context.Background(), d, &tools.Call{Name: name, Input: []byte("{}")})
		fmt.Println(strings.TrimSpace(fmt.Sprint(name, " ", v.Effect, " ", v.Reason)))
	}
	// Output:
	// publish allow
	// publish ask You asked: “Should we publish the page?”. This would change something.
}
