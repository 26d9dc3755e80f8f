package river_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// full is an input with all fields that a job carries.
var full = agent.Input{Session: "s", Prompt: "a\x00b <>& 1e400", Parts: []provider.Part{provider.TextPart("text"),
	{Kind: provider.PartMedia, Media: &provider.Media{Type: "image/png", Data: []byte{0, 1, 255}}}},
	History: []provider.Message{{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: "c", Name: "tool", Input: json.RawMessage(`{"z":1.0,"a":1e2}`)}}}}},
	Only: []string{"tool"}, Mode: "fast", Model: "m",
	ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "tool"},
	Limits:     &agent.Limits{Steps: 3, Duration: time.Hour}, Interactive: true, Priority: -1, User: "ann", Task: "t",
	Pipeline: "p", Owner: "o", Parent: "parent", Title: "Title", Labels: map[string]string{"tenant": "acme"}, Key: "k",
	Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Children: true,
	Supersede: true, Replaces: 7, Outside: []string{"a mail"}}

func TestWhatAJobCannotCarryIsRefused(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "tool"}, func(context.Context, page) (string, error) { return "", nil })
	for field, in := range map[string]agent.Input{
		"Input.Key":     {Session: "s", Prompt: "go"},
		"Input.Prompt":  {Session: "s", Key: "k", Prompt: " "},
		"Input.Tools":   {Session: "s", Key: "k", Prompt: "go", Tools: []tools.Tool{tool}},
		"Input.Session": {Session: "a\nb", Key: "k", Prompt: "go"},
		"Input.Title":   {Session: "s", Key: "k", Prompt: "go", Title: "\xff"},
		"Input.Labels":  {Session: "s", Key: "k", Prompt: "go", Labels: map[string]string{"a": "\xff"}},
	} {
		requireArg(t, field, enqueueOnly(t, in))
	}
	require.ErrorContains(t, pawlriver.Enqueue(t.Context(), nil, nil, "writer", full, nil), "is nil")
	require.ErrorContains(t, pawlriver.Wake(t.Context(), nil, "s"), "is nil")
}

// enqueueOnly queues an input, which must fail before the transaction is used.
func enqueueOnly(t *testing.T, in agent.Input) error {
	return pawlriver.Enqueue(t.Context(), struct{ pgx.Tx }{}, new(river.Client[pgx.Tx]), "writer", in, nil)
}

func requireArg(t *testing.T, field string, err error) {
	t.Helper()
	wrong, ok := errors.AsType[*agent.ArgError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, field, wrong.Field)
}

func TestARunIsQueuedOnceAndOnlyIfTheTransactionCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t)
	failed := errors.New("failed")
	in := full
	in.Prompt += strings.Repeat("long ", 1000)
	queue := func(result error) error {
		return pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
			require.NoError(t, pawlriver.Enqueue(t.Context(), tx, c, "writer", in, &river.InsertOpts{Priority: 3}))
			return result
		})
	}
	require.ErrorIs(t, queue(failed), failed)
	require.Zero(t, w.count(t, "SELECT count(*) FROM river_job"))
	require.NoError(t, queue(nil))
	require.NoError(t, queue(nil))
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM river_job WHERE priority = 3"))
	in.Key = "another"
	require.NoError(t, queue(nil))
	require.Equal(t, 2, w.count(t, "SELECT count(*) FROM river_job"))
}

// TestAJobOfAnEarlierVersionIsStarted with all that its input had, also in fields that an input
// doesn't have any more.
func TestAJobOfAnEarlierVersionIsStarted(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../internal/compat/queued/river.json")
	require.NoError(t, err)
	args, err := pawlriver.WrittenLeg(data)
	require.NoError(t, err)
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	_, err = w.start(t, w.config(a)).Insert(t.Context(), args, nil)
	require.NoError(t, err)
	w.awaitStatus(t, "s", agent.Paused) // for an approval
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	started := facts[0].(*agent.RunStarted)
	require.Len(t, started.Message.Parts, 4)
	require.Equal(t, "a\x00b <>& 1e400", started.Message.Parts[0].Text)
	require.Equal(t, []byte{0, 1, 255}, started.Message.Parts[2].Media.Data)
	require.Contains(t, started.Message.Parts[3].Text, "limit", "the briefing")
	require.Contains(t, started.Message.Parts[3].Text, "this", "the briefing")
	require.Equal(t, full.Labels, started.Envelope().Origin.Labels.Map())
	require.Equal(t, full.Outside, started.Outside[:1])
	require.Equal(t, []any{"ann", "t", "p", "o", "parent", "k", "m", true, int32(-1), true}, []any{started.Caller.User,
		started.Caller.Task, started.Caller.Pipeline, started.Owner, started.ParentSession, started.Key, started.Model,
		started.Interactive, started.Priority, started.Children})
	require.Len(t, started.History, 2, "the call and its result")
}
