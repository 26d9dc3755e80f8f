package replay

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider"
)

var stops = flag.Int("stops", 1, "at how many of its appends, chosen at random, each conversation fails")

// A failing is a store that dies at an append: the one with that number, counted from 1, and all
// later ones fail. Kept says that this one is stored nevertheless.
type failing struct {
	journal.Store
	at   int
	kept bool
	n    int
}

var errDead = journal.Unusable("the store is dead")

// Append stores records, or fails.
func (f *failing) Append(ctx context.Context, a journal.Append) error {
	f.n++
	if f.at == 0 || f.n < f.at {
		return f.Store.Append(ctx, a)
	}
	if f.n == f.at && f.kept {
		if err := f.Store.Append(ctx, a); err != nil {
			return err
		}
	}
	return errDead
}

// newAgent returns an agent for the conversation. All of them have the same owner, as if the
// process had been started again, so that none waits for the lease of another.
func newAgent(t *testing.T, c *conversation, store journal.Store) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{Name: "replay", Provider: c, Tools: c.tools, Journal: store, Owner: "replay"})
	require.NoError(t, err)
	return a
}

// talk asks the agent until each answer has been given. It goes on where the session is.
func talk(ctx context.Context, a *agent.Agent, c *conversation, session string) error {
	for n := 0; ; n++ {
		messages, err := a.Session(session).Messages(ctx)
		if err != nil && !errors.Is(err, journal.ErrNoSession) {
			return err
		}
		if n := len(messages); n > 0 && messages[n-1].Text() == "That is all." {
			return nil
		}
		in := agent.Input{Session: session, Prompt: fmt.Sprintf("Question %d.", n), Key: fmt.Sprint("question ", n)}
		_, err = a.Run(ctx, in)
		if errors.Is(err, errDead) {
			return err
		}
		if errors.Is(err, agent.ErrDuplicate) {
			continue
		}
		if n > len(c.answers)+2 {
			return fmt.Errorf("%d questions were asked, and the last answer wasn't given: %w", n, err)
		}
	}
}

var runID = regexp.MustCompile(`r-[0-9a-f]{32}`)

// said returns the messages of a session as JSON, with the runs numbered in place of their random
// names.
func said(t *testing.T, a *agent.Agent, session string) (lines []string) {
	t.Helper()
	messages, err := a.Session(session).Messages(t.Context())
	require.NoError(t, err)
	runs := map[string]string{}
	for i := range messages {
		text, err := json.Marshal(&messages[i])
		require.NoError(t, err)
		lines = append(lines, runID.ReplaceAllStringFunc(string(text), func(id string) string {
			if runs[id] == "" {
				runs[id] = fmt.Sprintf("run-%d", len(runs)+1)
			}
			return runs[id]
		}))
	}
	return lines
}

// resume runs the conversation with a store that dies at an append, and finishes it with another
// agent. It reports whether the store has died.
func resume(t *testing.T, c *conversation, store journal.Store, session string, at int, kept bool) (died bool,
	lines []string) {
	t.Helper()
	dying := &failing{Store: store, at: at, kept: kept}
	err := talk(t.Context(), newAgent(t, c, dying), c, session)
	died = dying.n >= at
	if !died {
		require.NoError(t, err)
	}
	a := newAgent(t, c, store)
	_, _ = a.Run(t.Context(), agent.Continue(session)) // an error if there is no run to continue
	require.NoError(t, talk(t.Context(), a, c, session))
	return died, said(t, a, session)
}

// open returns a store in a SQLite file.
func open(t *testing.T) journal.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "journal.db"), sqlite.Config{Durability: sqlite.Process})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func TestHandWrittenConversationsAreResumed(t *testing.T) {
	all := own(t)
	require.GreaterOrEqual(t, len(all), 110)
	resumeAll(t, all)
}

func TestRecordedConversationsAreResumed(t *testing.T) { resumeAll(t, recorded(t)) }

// resumeAll runs each conversation once with a store that works, and then with one that dies,
// before or after it has stored the append.
func resumeAll(t *testing.T, all []*conversation) {
	store, resumed := open(t), 0
	random := rand.New(rand.NewPCG(3, 5))
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			counting := &failing{Store: store}
			a := newAgent(t, c, counting)
			whole := fmt.Sprintf("whole-%d", i)
			require.NoError(t, talk(t.Context(), a, c, whole))
			want := said(t, a, whole)
			appends := random.Perm(counting.n)
			for _, before := range appends[:min(*stops, len(appends))] {
				at, kept := before+1, random.IntN(2) == 0
				died, got := resume(t, c, store, fmt.Sprintf("session-%d-%d", i, at), at, kept)
				require.True(t, died)
				require.Equal(t, want, got, "append %d, stored: %t", at, kept)
				resumed++
			}
		})
	}
	fmt.Printf("%s: %d conversations, resumed %d times\n", t.Name(), len(all), resumed)
}

var _ provider.Provider = (*conversation)(nil)
