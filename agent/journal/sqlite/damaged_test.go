package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestADamagedRowHarmsItsSessionAlone damages a column of one of three sessions.
func TestADamagedRowHarmsItsSessionAlone(t *testing.T) {
	for column, value := range map[string]any{"open": "[{", "labels": `{"a":`, "pruned": 99} {
		t.Run(column, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			s := open(t, path, sqlite.Config{})
			a, err := agent.New(agent.Config{Journal: s, Provider: providertest.Script(providertest.Say("One."),
				providertest.Say("Two."), providertest.Say("Three."))})
			require.NoError(t, err)
			for _, name := range []string{"a", "b", "c"} {
				_, err := a.Run(t.Context(), agent.Input{Session: name, Prompt: "go"})
				require.NoError(t, err)
			}
			db := raw(t, path)
			for _, trigger := range []string{"pawl_labels_insert", "pawl_labels_update", "pawl_labels_delete"} {
				_, err := db.Exec("DROP TRIGGER " + trigger)
				require.NoError(t, err)
			}
			_, err = db.Exec("UPDATE pawl_sessions SET "+column+" = ?, status = 'running' WHERE name = 'b'", value)
			require.NoError(t, err)

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
			_, err = a.Run(t.Context(), agent.Input{Session: "b", Prompt: "go"})
			require.ErrorIs(t, err, journal.ErrUnusable)

			_, err = db.Exec("UPDATE pawl_sessions SET status = 'running' WHERE name = 'c'")
			require.NoError(t, err)
			var recovered, failed []string
			_, err = a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) {
				if r.Err != nil && r.Session == "b" {
					failed = append(failed, r.Session)
				}
				recovered = append(recovered, r.Session)
			}})
			require.NoError(t, err)
			require.Equal(t, []string{"b"}, failed)
			require.NotContains(t, recovered, "a")
		})
	}
}

func TestADamagedVersionOfTheFileSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	require.NoError(t, s.Close())
	_, err = raw(t, path).Exec("UPDATE pawl_meta SET version = -125")
	require.NoError(t, err)
	for _, cfg := range []sqlite.Config{{}, {NoMigrate: true}} {
		_, err = sqlite.Open(path, cfg)
		require.ErrorContains(t, err, "the version of the journal's tables is damaged")
	}
}
