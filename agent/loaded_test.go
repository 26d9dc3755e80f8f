package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A readCounter counts the records that are read from a store.
type readCounter struct {
	journal.Store
	n atomic.Int64
}

func (c *readCounter) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range c.Store.Read(ctx, session, after) {
			if err == nil {
				c.n.Add(1)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// lengthTeller returns an agent whose model answers each input with the number of messages that it
// was sent.
func lengthTeller(t testing.TB, store journal.Store, list ...tools.Tool) *agent.Agent {
	return newAgent(t, agent.Config{Journal: store, Tools: list,
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			return say(fmt.Sprint(len(req.Messages))).Response(), nil
		})})
}

// turns makes n runs in session "s", and returns the last one's result.
func turns(t testing.TB, a *agent.Agent, n int) (res *agent.Result) {
	t.Helper()
	for range n {
		res = run(t, a)
	}
	return res
}

func TestEachRunOfASessionReadsOnlyWhatIsNew(t *testing.T) {
	store := &readCounter{Store: &journal.MapStore{}}
	a := lengthTeller(t, store)
	require.Equal(t, "1", turns(t, a, 1).Text())
	store.n.Store(0)
	require.Equal(t, "1001", turns(t, a, 500).Text())
	require.EqualValues(t, 500, store.n.Load(), "each run reads the newest record, to see that it is still the newest")
}

func TestAProcessThatDoesNotKnowASessionReadsItFromTheLastSnapshot(t *testing.T) {
	store := &readCounter{Store: &journal.MapStore{}}
	require.Equal(t, "601", turns(t, lengthTeller(t, store), 301).Text()) // about 1,200 facts
	other := lengthTeller(t, store)
	store.n.Store(0)
	require.Equal(t, "603", turns(t, other, 1).Text())
	require.LessOrEqual(t, store.n.Load(), int64(1100))

	log := facts(t, other, "s")
	requireSound(t, "s", log)
	require.Len(t, conversation(t, other, "s"), 604, "the facts before a snapshot are still there")
	taken := 0
	for i, f := range log {
		if _, ok := f.(*machine.Snapshot); ok {
			taken++
			require.Equal(t, stateOf(t, log), stateOf(t, log[i:]), "snapshot %d", taken)
		}
	}
	require.Equal(t, len(log)/500, taken)
}

// A snapshotCounter counts the snapshots that are appended to a store.
type snapshotCounter struct {
	journal.Store
	n atomic.Int64
}

func (c *snapshotCounter) Append(ctx context.Context, a journal.Append) error {
	for i := range a.Records {
		if a.Records[i].Kind == machine.KindSnapshot {
			c.n.Add(1)
		}
	}
	return c.Store.Append(ctx, a)
}

func TestNoSnapshotIsTakenOfASessionThatIsDeletedAtItsEnd(t *testing.T) {
	note := tools.New(tools.Spec{Name: "note"}, func(ctx context.Context, _ struct{}) (string, error) {
		for n := range 600 {
			if err := agent.Emit(ctx, "note", n); err != nil {
				return "", err
			}
		}
		return "ok", nil
	})
	for session, taken := range map[string]int64{"s": 1, "": 0} {
		store := &snapshotCounter{Store: &journal.MapStore{}}
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{note},
			Provider: providertest.Script(providertest.Call("note", struct{}{}), say("Done."))})
		_, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		require.NoError(t, err)
		require.Equal(t, taken, store.n.Load(), "%q", session)
	}
}

func conversation(t testing.TB, a *agent.Agent, session string) []provider.Message {
	t.Helper()
	messages, err := a.Session(session).Messages(t.Context())
	require.NoError(t, err)
	return messages
}

func TestASnapshotIsNotShown(t *testing.T) {
	a := lengthTeller(t, &journal.MapStore{})
	for range 300 {
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		require.Empty(t, of[*machine.Snapshot](all))
		require.IsType(t, &agent.RunStarted{}, all[0])
	}
}

func TestWhatAnotherProcessHasWrittenIsRead(t *testing.T) {
	store := &journal.MapStore{}
	one, other := lengthTeller(t, store), lengthTeller(t, store)
	for n := range 20 {
		require.Equal(t, fmt.Sprint(4*n+1), turns(t, one, 1).Text())
		require.Equal(t, fmt.Sprint(4*n+3), turns(t, other, 1).Text())
	}
	requireSound(t, "s", facts(t, one, "s"))
}

// What another process does to a session that this one has run must not be missed.
func TestASessionThatAnotherProcessHasReplacedIsReadAnew(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, other *agent.Agent){
		"deleted": func(t *testing.T, other *agent.Agent) {
			require.NoError(t, other.Session("s").Delete(t.Context()))
		},
		"deleted, and as long again": func(t *testing.T, other *agent.Agent) {
			require.NoError(t, other.Session("s").Delete(t.Context()))
			turns(t, other, 3)
		},
		"deleted, and longer than before": func(t *testing.T, other *agent.Agent) {
			require.NoError(t, other.Session("s").Delete(t.Context()))
			turns(t, other, 5)
		},
		"replaced by a copy of another session": func(t *testing.T, other *agent.Agent) {
			runInput(t, other, agent.Input{Session: "t", Prompt: "go"})
			require.NoError(t, other.Session("s").Delete(t.Context()))
			require.NoError(t, other.Session("t").Fork(t.Context(), "s", 0))
		},
		"pruned": func(t *testing.T, other *agent.Agent) {
			_, err := other.Session("s").Prune(t.Context())
			require.NoError(t, err)
		},
		"imported after a change": func(t *testing.T, other *agent.Agent) {
			var out strings.Builder
			require.NoError(t, other.Session("s").Export(t.Context(), &out))
			require.NoError(t, other.Session("s").Delete(t.Context()))
			lines := strings.SplitAfter(out.String(), "\n")
			lines[len(lines)-2] = strings.Replace(lines[len(lines)-2], `"status":"completed"`,
				`"status":"stopped","code":"host"`, 1)
			require.NoError(t, other.Session("s").Import(t.Context(), strings.NewReader(strings.Join(lines, ""))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			a, other := lengthTeller(t, store), lengthTeller(t, store)
			turns(t, a, 3)
			replace(t, other)
			fresh, err := lengthTeller(t, store).Session("s").Result(t.Context())
			known, knownErr := a.Session("s").Result(t.Context())
			require.Equal(t, err, knownErr)
			if err == nil {
				require.Equal(t, fresh.Status, known.Status)
			}
			want := "1"
			if messages := conversation(t, other, "s"); len(messages) > 0 {
				want = fmt.Sprint(len(messages) + 1)
			}
			require.Equal(t, want, turns(t, a, 1).Text())
			requireSound(t, "s", facts(t, other, "s"))
		})
	}
}
