package durable

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestTheFileOfARunHasNoSecretAnswer(t *testing.T) {
	const secret = "correct horse 7 battery"
	dir := t.TempDir()
	var got []string
	login := tools.New(tools.Spec{Name: "login"}, func(ctx context.Context, _ struct{}) (string, error) {
		r, ok := tools.Resumed(ctx)
		if !ok {
			return "", tools.Suspend{Prompt: "the password", Again: true, Secret: true,
				Schema: json.RawMessage(`{"type":"string"}`)}
		}
		var answer string
		err := r.Decode(nil, &answer)
		got = append(got, answer)
		return "logged in", err
	})
	process := func(work func(*agent.Agent), steps ...providertest.Step) {
		store, err := sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{login},
			Provider: providertest.Script(steps...)})
		require.NoError(t, err)
		work(a)
		files, err := filepath.Glob(filepath.Join(dir, "*")) // also the log of what isn't in the file yet
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.False(t, bytes.Contains(text, []byte(secret)), name)
		}
		require.NoError(t, store.Close())
	}
	var id string
	process(func(a *agent.Agent) {
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Log in."})
		require.ErrorAs(t, err, new(*agent.PausedError))
		id = res.Pending[0].ID
	}, providertest.Call("login", struct{}{}))
	process(func(a *agent.Agent) {
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Answer(id, secret)))
		res, err := a.Run(t.Context(), agent.Continue("s"))
		require.NoError(t, err)
		require.Equal(t, "Welcome.", res.Text())
	}, providertest.Say("Welcome."))
	require.Equal(t, []string{secret}, got)
	process(func(*agent.Agent) {}) // what the log had is in the file now
}
