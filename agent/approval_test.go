package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type Page struct {
	ID string `json:"id"`
}

// A person decides, perhaps tomorrow, perhaps in another process. While they think, the run costs
// nothing.
func Example_approval() {
	store := &journal.MapStore{} // one on disk for real
	build := func(p provider.Provider) *agent.Agent {
		a, err := agent.New(agent.Config{
			Name:     "cms",
			Provider: p,
			Journal:  store,
			Tools: []tools.Tool{tools.Func[Page, string]{
				// high risk asks
				Spec: tools.Spec{Name: "cms.deletePage", Description: "Deletes a page for good.", Risk: tools.High},
				Run:  func(ctx context.Context, in Page) (string, error) { return in.ID + " is gone", nil },
				Verify: func(ctx context.Context, in Page, out string) error { // did it really happen?
					return nil
				},
			}},
		})
		if err != nil {
			log.Fatal(err)
		}
		return a
	}
	ctx := context.Background()
	a := build(providertest.Script(providertest.Call("cms.deletePage", Page{ID: "p1"})))
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Delete the old home page."})
	if paused := (*agent.PausedError)(nil); !errors.As(err, &paused) || !paused.Started {
		log.Fatal("it should ask: ", err)
	}
	for _, p := range res.Pending { // the run waits; the process may end here
		fmt.Printf("%s wants %s because %s\n", p.Call.Name, p.Call.Input, p.Reason)
	}
	// In another process, a month later:
	b := build(providertest.Script(providertest.Say("Done.")))
	res, err = b.Run(ctx, agent.Resume("s-1", agent.Approve(res.Pending[0].ID).By("ann")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	// Output:
	// cms.deletePage wants {"id":"p1"} because this tool is of high risk
	// Done.
}

func TestADecisionOnAnUnknownPauseRunsNothing(t *testing.T) {
	ran := 0
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("del", Page{ID: "p1"}), providertest.Say("Done.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "del", Risk: tools.High},
			func(ctx context.Context, in Page) (string, error) {
				ran++
				return "gone", nil
			})},
	})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, agent.Paused, res.Status)
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve("p-forged")))
	var de *agent.DecisionError
	require.ErrorAs(t, err, &de)
	require.Equal(t, machine.DecisionUnknown, de.Code)
	require.Zero(t, ran)
	id := res.Pending[0].ID
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(id)))
	require.NoError(t, err)
	require.Equal(t, "Done.", res.Text())
	require.Equal(t, 1, ran)
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(id)))
	require.ErrorAs(t, err, &de)
	require.Equal(t, machine.DecisionUsed, de.Code)
	require.Equal(t, 1, ran)
}
