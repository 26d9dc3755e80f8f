package stop_test

import (
	"context"
	"fmt"
	"regexp"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run that is done once its page is published.
func Example() {
	publish := tools.New(tools.Spec{Name: "publish"}, func(context.Context, struct{}) (string, error) {
		return "published", nil
	})
	long := func(s *stop.State) (string, bool) {
		return "the answer is long", len(s.Text()) > 10_000
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("publish", struct{}{}), providertest.Say("not reached")),
		Tools:    []tools.Tool{publish},
		StopWhen: []stop.Condition{stop.AfterTool("publish"), stop.AfterSteps(8),
			stop.WhenText(regexp.MustCompile("^DONE")), long},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "Publish it"})
	fmt.Println(res.Status, res.Steps, res.Reason, err)
	// Output:
	// completed 1 agent: a stop condition holds: publish succeeded <nil>
}
