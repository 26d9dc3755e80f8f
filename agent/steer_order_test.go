package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// TestMessagesAreReadInTheOrderInWhichTheyWereSent, however often they had to wait.
func TestMessagesAreReadInTheOrderInWhichTheyWereSent(t *testing.T) {
	for _, when := range []string{"while the model speaks", "while its calls run", "both"} {
		t.Run(when, func(t *testing.T) {
			var done effects
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
				calls("work", 1, 2), say("Done."))
			steer := func(texts ...string) {
				for _, text := range texts {
					_, err := a.Session("s").Steer(t.Context(), text)
					require.NoError(t, err)
				}
			}
			var want []string
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				switch ev := ev.(type) {
				case *agent.StepStarted:
					if ev.Step == 1 && when != "while its calls run" {
						steer("a", "b", "c")
						want = append(want, "a", "b", "c")
					}
				case *agent.ToolStarted:
					if ev.Meta.Call[len(ev.Meta.Call)-1] == '0' && when != "while the model speaks" {
						steer("d", "e")
						want = append(want, "d", "e")
					}
				}
			}
			var got []string
			for _, m := range model.Requests()[1].Messages[3:] {
				got = append(got, m.Text())
			}
			require.Equal(t, want, got)
		})
	}
}
