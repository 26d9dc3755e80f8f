package team

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestAReportOfWorkThatHasReadTextFromOutsideSaysSo has a report that starts a run, and one to a
// run in progress.
func TestAReportOfWorkThatHasReadTextFromOutsideSaysSo(t *testing.T) {
	for name, outside := range map[string]bool{"text from outside": true, "own text": false} {
		for _, busy := range []bool{false, true} {
			mail := tools.New(tools.Spec{Name: "readMail", ReadOnly: true, Outside: outside},
				func(context.Context, struct{}) (string, error) { return "Refund me.", nil })
			work := providertest.Script(providertest.Call("readMail", nil),
				providertest.Slow(5*time.Second, providertest.Say("They want a refund.")))
			bubble(t, options{librarian: agent.Config{Tools: []tools.Tool{mail}, Provider: work}},
				func(t *testing.T, f *fixture) {
					f.say("s", "start mail")
					if busy {
						f.say("s", "wait")
					}
					time.Sleep(5 * time.Minute)
					f.letGo()
					time.Sleep(time.Minute)
					require.Len(t, f.reports("s"), 1)
					facts, err := f.lead.Agent().Session("s").Facts(t.Context())
					require.NoError(t, err)
					var from []string
					steered := false
					for _, fact := range facts {
						switch fact := fact.(type) {
						case *machine.Steered:
							steered, from = true, fact.Outside
						case *agent.RunStarted:
							from = fact.Outside
						}
					}
					require.Equal(t, busy, steered)
					if outside {
						require.Equal(t, []string{"librarian"}, from, name)
					} else {
						require.Empty(t, from, name)
					}
					res, err := f.lead.Agent().Session("s").Result(t.Context())
					require.NoError(t, err)
					require.Equal(t, outside, res.Outside)
				})
		}
	}
}
