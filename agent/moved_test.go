package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

func TestAnImportHasTheStateOfTheExport(t *testing.T) {
	ended := 0
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := sc.stage(t, &journal.MapStore{})
				if in, starts := st.input.(agent.Input); starts && sc.input == nil {
					in.Labels, in.Owner = map[string]string{"tenant": "acme"}, "ann"
					st.input = in
				}
				_, _ = st.agent.Run(context.Background(), st.input)
				require.NoError(t, st.agent.Session("s").SetTitle(t.Context(), "The title"))
				var file bytes.Buffer
				require.NoError(t, st.agent.Session("s").Export(t.Context(), &file))
				store := &journal.MapStore{}
				b, _ := scripted(t, agent.Config{Journal: store})
				require.NoError(t, b.Session("s").Import(t.Context(), &file))
				was, now := replayed(t, st.agent), replayed(t, b)
				if was.Run.IsOpen() {
					require.Equal(t, agent.Stopped, now.Run.Status)
					require.Equal(t, machine.CodeForked, now.Run.Code)
					require.Equal(t, was.Messages[:len(now.Messages)], now.Messages)
					return
				}
				ended++
				for i, a, b := 0, reflect.ValueOf(*was), reflect.ValueOf(*now); i < a.NumField(); i++ {
					x, err := json.Marshal(a.Field(i).Interface())
					require.NoError(t, err)
					y, err := json.Marshal(b.Field(i).Interface())
					require.NoError(t, err)
					require.Equal(t, string(x), string(y), a.Type().Field(i).Name)
				}
				x, err := st.agent.Session("s").Info(t.Context())
				require.NoError(t, err)
				y, err := b.Session("s").Info(t.Context())
				require.NoError(t, err)
				x.Created, x.Updated = y.Created, y.Updated
				require.Equal(t, x, y)
			})
		})
	}
	require.Greater(t, ended, 15)
}

// replayed returns the state of the session "s".
func replayed(t *testing.T, a *agent.Agent) *machine.State {
	t.Helper()
	m, err := machine.Replay("s", facts(t, a, "s")...)
	require.NoError(t, err)
	return m.State()
}
