package durable

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestAnotherProcessAnswersAfterARequestThatWasTooLong has a process for each message; the
// provider refuses the first one for its length.
func TestAnotherProcessAnswersAfterARequestThatWasTooLong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	big := strings.Repeat("My order is late. ", 20_000)
	refused := providertest.FailWith(&provider.Error{Class: fault.UserFixable, Status: 400,
		ContextLength: &provider.ContextLength{}})
	for i, prompt := range []string{big, "hello", "hello again"} {
		store, err := sqlite.Open(file, sqlite.Config{})
		require.NoError(t, err)
		reply := providertest.Say("Hello.")
		if i == 0 {
			reply = refused
		}
		model := providertest.Script(reply)
		a, err := agent.New(agent.Config{Provider: model, Journal: store})
		require.NoError(t, err)
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
		if i == 0 {
			require.Equal(t, machine.CodeContext, res.Code)
		} else {
			require.NoError(t, err)
			sent := 0
			for _, m := range model.Requests()[0].Messages {
				sent += len(m.Text())
			}
			require.Less(t, sent, 2_000)
		}
		said, err := a.Session("s").Messages(t.Context())
		require.NoError(t, err)
		require.Equal(t, big, said[0].Text())
		require.Len(t, said, 1+2*i)
		require.NoError(t, store.Close())
	}
}
