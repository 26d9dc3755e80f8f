package consent

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A counting store counts the records that are read.
type counting struct {
	journal.Store
	read atomic.Int64
}

func (c *counting) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range c.Store.Read(ctx, session, after) {
			c.read.Add(1)
			if !yield(r, err) {
				return
			}
		}
	}
}

// a conversing agent answers each message with its number and, if it is "Rename", after a call that
// has to be decided.
func conversing(t testing.TB) (a *agent.Agent, store *counting) {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "a.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	store = &counting{Store: s}
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == provider.RoleUser && last.Text() == "Rename" {
			return providertest.Call("rename", map[string]string{}).Response(), nil
		}
		return providertest.Say(fmt.Sprint("Answer ", len(req.Messages))).Response(), nil
	})
	rename := tools.Func[map[string]string, none]{Spec: tools.Spec{Name: "rename", Description: "Renames."},
		Ask: func(context.Context, map[string]string) (string, error) { return "it is public", nil },
		Run: func(context.Context, map[string]string) (none, error) { return none{}, nil }}
	a, err = agent.New(agent.Config{Provider: model, Journal: store, Tools: []tools.Tool{rename}})
	require.NoError(t, err)
	return a, store
}

func tell(t testing.TB, a *agent.Agent, in agent.Input) *agent.Result {
	t.Helper()
	in.Session = "s"
	res, err := a.Run(t.Context(), in)
	if res == nil || res.Status != agent.Paused {
		require.NoError(t, err)
	}
	return res
}

// What is kept is what the whole conversation says, and what is read is what is new.
func TestACallReadsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	a, store := conversing(t)
	said := Listen(func() *agent.Agent { return a }).Said
	same := func() []provider.Message {
		t.Helper()
		kept, _, err := said(t.Context(), "s")
		require.NoError(t, err)
		whole, err := a.Session("s").Messages(t.Context())
		require.NoError(t, err)
		require.Equal(t, messages(whole), messages(kept))
		require.Equal(t, refusals(whole), refusals(kept))
		require.Equal(t, answer(whole), answer(kept))
		return kept
	}
	require.Empty(t, same())
	for i := range 20 {
		tell(t, a, agent.Input{Prompt: fmt.Sprint("Message ", i)})
	}
	same()
	third := tell(t, a, agent.Input{Prompt: "The third"}).Start
	p := tell(t, a, agent.Input{Prompt: "Rename"})
	res, err := a.Run(t.Context(), agent.Resume("s", agent.Reject(p.Pending[0].ID, "Never do that.")))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	require.Len(t, refusals(same()), 1)

	before := store.read.Load()
	tell(t, a, agent.Input{Prompt: "One more"})
	mine := store.read.Load()
	kept, _, err := said(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, messages(kept), 23)
	require.Less(t, store.read.Load()-mine, int64(10), "the session has more facts")
	require.Greater(t, store.read.Load(), before)

	tell(t, a, agent.Input{Prompt: "Another third", Replaces: third})
	require.Len(t, messages(same()), 21, "what was replaced isn't there any more")
	require.Empty(t, refusals(same()))

	require.NoError(t, a.Session("s").Delete(t.Context()))
	tell(t, a, agent.Input{Prompt: "A new one"})
	require.Equal(t, []string{"A new one"}, messages(same()))
}

// BenchmarkPolicy is about a call in a session of 2,000 facts: "whole" reads all of it.
func BenchmarkPolicy(b *testing.B) {
	a, _ := conversing(b)
	for i := uint64(0); i < 2_000; {
		tell(b, a, agent.Input{Prompt: fmt.Sprintf("Rename page %d to %[1]d", i)})
		info, err := a.Session("s").Info(b.Context())
		require.NoError(b, err)
		i = info.Facts
	}
	spec := tools.Spec{Name: "rename", Description: "Renames."}
	d, err := tools.Func[map[string]string, none]{Spec: spec,
		Run: func(context.Context, map[string]string) (none, error) { return none{}, nil }}.Define()
	require.NoError(b, err)
	for name, said := range map[string]func(context.Context, string) ([]provider.Message, []string, error){
		"whole": func(ctx context.Context, session string) ([]provider.Message, []string, error) {
			all, err := a.Session(session).Messages(ctx)
			return all, nil, err
		},
		"kept": Listen(func() *agent.Agent { return a }).Said,
	} {
		policy := Policy(Config{Said: said})
		call := &tools.Call{Session: "s", Name: "rename", Input: []byte("{}")}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy(b.Context(), d, call)
			}
		})
	}
}

// A message is dropped when a fact says that it was read, and not when another message was.
func TestAMessageIsUnreadUntilAFactSaysThatItWasRead(t *testing.T) {
	t.Parallel()
	a, _ := conversing(t)
	l := Listen(func() *agent.Agent { return a })
	tell(t, a, agent.Input{Prompt: "Hello"})
	hook := l.Hooks().BeforeInput
	come := func(texts ...string) {
		for _, text := range texts {
			in := agent.IncomingText{Session: "s", Source: agent.FromSteering, Text: text}
			require.NoError(t, hook(t.Context(), &in))
		}
	}
	unread := func() []string {
		_, texts, err := l.Said(t.Context(), "s")
		require.NoError(t, err)
		return texts
	}
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	delivered := func(after uint64, text string) {
		meta := machine.Meta{Seq: info.Facts + after}
		l.read("s", info.Created, &machine.Steered{Meta: meta, Message: provider.User(text)})
	}
	come("A", "B", "A")
	delivered(0, "A")
	require.Equal(t, []string{"A", "B", "A"}, unread(), "that was an earlier one")
	delivered(1, "A")
	require.Equal(t, []string{"B", "A"}, unread())
	delivered(1, "A")
	require.Equal(t, []string{"B", "A"}, unread(), "the fact is read again")
	delivered(2, "C")
	require.Equal(t, []string{"B", "A"}, unread())
	delivered(3, "B")
	delivered(4, "A")
	require.Empty(t, unread())

	come("Don't", "Don't", "Stop")
	tell(t, a, agent.Input{Prompt: "Don't"})
	require.Equal(t, []string{"Stop"}, unread(), "it may have come as that run began")
	tell(t, a, agent.Input{Prompt: "Go on"})
	require.Empty(t, unread())

	come("Wait")
	require.NoError(t, a.Session("s").Delete(t.Context()))
	for range 3 { // more facts than it had
		tell(t, a, agent.Input{Prompt: "Another one"})
	}
	require.Empty(t, unread(), "the session is another one")
}

// Of too many sessions, those are forgotten whose messages are the oldest.
func TestOfTooManySessionsTheOldestAreForgotten(t *testing.T) {
	t.Parallel()
	l := Listen(nil)
	for i := range maxHeard {
		l.note(fmt.Sprint(i), sent{text: "Don't"})
	}
	l.note("0", sent{text: "Stop"})
	l.note("new", sent{text: "Don't"})
	require.Len(t, l.sent, maxHeard)
	require.Empty(t, l.unread("1", time.Time{}))
	require.Equal(t, []string{"Don't", "Stop"}, l.unread("0", time.Time{}))
	for _, name := range []string{"2", "499", "new"} {
		require.Equal(t, []string{"Don't"}, l.unread(name, time.Time{}))
	}
}
