package agent_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// TestANewKindOfItemNeedsALine in itemKinds, and no line is left over.
func TestANewKindOfItemNeedsALine(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "internal/session/inbox.go", nil, 0)
	require.NoError(t, err)
	var kinds []string
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(c.Names[0].Name, "Item") {
			kind, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			kinds = append(kinds, kind)
		}
		return true
	})
	require.ElementsMatch(t, kinds, agent.ItemKinds())
}

// TestAnItemOfANewerVersionStays in the inbox for a process that knows what it means: during a run,
// after a pause, and when another run begins.
func TestAnItemOfANewerVersionStays(t *testing.T) {
	store, logged := &journal.MapStore{}, new(bytes.Buffer)
	post := func(id, kind, data string) error {
		return store.Post(t.Context(), "s", journal.Item{ID: id, Kind: kind, Time: time.Now(), Data: []byte(data)})
	}
	waits := func() int {
		head, err := store.Head(t.Context(), "s")
		require.NoError(t, err)
		return head.Inbox
	}
	var done effects
	work := tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
		return "x", errors.Join(post("n-1", "x-unknown", `{"number":3}`),
			post("n-2", session.ItemMode, `{"text":"of a newer version"}`))
	})
	a, _ := scripted(t, agent.Config{Journal: store, Logger: slog.New(slog.NewTextHandler(logged, nil)),
		Tools: []tools.Tool{work, done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		call("work", 1), call("risky", 2), say("Done."), say("Hello."))
	res := run(t, a)
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, 1, waits())
	require.Equal(t, 1, strings.Count(logged.String(), "of a newer version"))
	res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, 1, done.of(2))
	require.Equal(t, 1, waits())
	require.Equal(t, "Hello.", run(t, a).Text())
	require.Equal(t, 1, waits())
	require.NotContains(t, logged.String(), "kind=x-unknown", "another process takes it")
}

// TestAnItemThatNobodyKnowsIsRemoved after an hour, so that nothing waits for it any more.
func TestAnItemThatNobodyKnowsIsRemoved(t *testing.T) {
	store, logged := &journal.MapStore{}, new(bytes.Buffer)
	a, _ := scripted(t, agent.Config{Journal: store, Logger: slog.New(slog.NewTextHandler(logged, nil))},
		say("Hello."), say("Hello again."))
	run(t, a)
	require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "n", Kind: "x-unknown",
		Time: time.Now().Add(-61 * time.Minute), Data: []byte("{}")}))
	run(t, a)
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, head.Inbox)
	require.Equal(t, 1, strings.Count(logged.String(), "kind=x-unknown"))
}
