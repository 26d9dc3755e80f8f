package telemetry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAnAnswerThatIsntRecordedIsInNoSpan(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: telemetry.Full})
	login := tools.New(tools.Spec{Name: "login"}, func(ctx context.Context, _ page) (string, error) {
		if _, ok := tools.Resumed(ctx); !ok {
			return "", tools.Suspend{Kind: "password", Again: true, Secret: true}
		}
		return "logged in", nil
	})
	a, err := agent.New(agent.Config{Hooks: []agent.Hooks{r.tel.Hooks()}, Journal: r.tel.Store(&journal.MapStore{}),
		Provider: r.tel.Provider(providertest.Script(call("login", "x"), providertest.Say("Done."))),
		Tools:    []tools.Tool{login}})
	require.NoError(t, err)
	res := run(t, a, agent.Input{Session: "s", Prompt: "go"})
	run(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "correct horse")))
	shown := r.tree(r.ended())
	for _, span := range r.ended() {
		shown += fmt.Sprintf("%v %v %v", span.Attributes(), span.Events(), span.Status())
	}
	require.Contains(t, shown, "logged in", "it has content")
	require.NotContains(t, shown, "correct horse")
}
