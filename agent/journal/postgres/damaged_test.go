package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestADamagedRowHarmsItsSessionAlone damages a column of one of three sessions.
func TestADamagedRowHarmsItsSessionAlone(t *testing.T) {
	for column, value := range map[string]string{"open": `'[{}, 5]'`, "labels": `'["a"]'`, "pruned": "99"} {
		t.Run(column, func(t *testing.T) {
			cfg := empty(t)
			a, err := agent.New(agent.Config{Journal: open(t, cfg), Provider: providertest.Script(
				providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."))})
			require.NoError(t, err)
			for _, name := range []string{"a", "b", "c"} {
				_, err := a.Run(t.Context(), agent.Input{Session: name, Prompt: "go"})
				require.NoError(t, err)
			}
			sqlExec(t,
				`UPDATE "`+cfg.Schema+`".sessions SET `+column+" = "+value+", status = 'running' WHERE name = 'b'")
			var listed, damaged []string
			for i, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
				if err != nil {
					require.ErrorContains(t, err, "damaged")
					damaged = append(damaged, i.Session)
					continue
				}
				listed = append(listed, i.Session)
			}
			require.ElementsMatch(t, []string{"a", "c"}, listed)
			require.Equal(t, []string{"b"}, damaged)
			_, err = a.Session("b").Info(t.Context())
			require.ErrorContains(t, err, `"b"`)
			require.ErrorIs(t, err, journal.ErrUnusable)
			_, err = a.Recover(t.Context(), agent.Recovery{})
			require.NoError(t, err)
		})
	}
}

func TestADamagedVersionOfTheTablesSaysSo(t *testing.T) {
	cfg := empty(t)
	require.NoError(t, open(t, cfg).Append(t.Context(), one("s", 0)))
	sqlExec(t, `UPDATE "`+cfg.Schema+`".meta SET version = -125`)
	_, err := postgres.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "the version of the journal's tables is damaged")
}
