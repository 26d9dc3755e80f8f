package durable

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A tally says what has happened.
type tally struct{ kills, sessions, facts, calls, changes, resumed, doubts int }

func (n *tally) add(o tally) {
	*n = tally{n.kills + o.kills, n.sessions + o.sessions, n.facts + o.facts, n.calls + o.calls, n.changes + o.changes,
		n.resumed + o.resumed, n.doubts + o.doubts}
}

// A record is what the facts say about a call.
type record struct {
	call    *provider.ToolCall
	started bool
	answers []string // to the questions of book
	result  *agent.ToolResult
}

// check looks at what is left of a session whose runs are complete: no effect is there twice, each
// that its call reports is there, none is there of a call that wasn't started, and each reader has
// got each fact.
func check(t *testing.T, dir string, watching *reader) (n tally) {
	w, err := OpenWorld(dir)
	require.NoError(t, err)
	defer w.Close()
	store, err := open(dir)
	require.NoError(t, err)
	defer store.Close()
	a, err := NewAgent(t.Context(), w, store)
	require.NoError(t, err)
	facts, err := a.Session(Session).Facts(t.Context())
	require.NoError(t, err)
	watching.requireAll(t, facts)
	for _, name := range readers {
		seen, err := w.Events(name)
		require.NoError(t, err)
		require.Equal(t, len(facts), len(seen), name)
		for i, f := range facts {
			want, err := agent.MarshalEvent(shown(f))
			require.NoError(t, err)
			require.Equal(t, string(want), seen[i], name)
		}
	}
	wrong, err := w.Wrongs()
	require.NoError(t, err)
	require.Empty(t, wrong)
	m, err := machine.Replay(Session, facts...)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, m.State().Run.Status)
	require.Equal(t, Steps+1, m.State().Run.Step)

	calls, runs := map[string]*record{}, 0
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			runs++
		case *machine.ToolsChanged:
			n.changes++
		case *agent.Replied:
			for _, c := range f.Message.Calls() {
				calls[c.ID] = &record{call: c}
			}
		case *agent.ToolStarted:
			calls[f.Call.ID].started = true
		case *agent.Suspended:
			if f.Pause.Kind == agent.PauseInDoubt {
				n.doubts++
			}
		case *machine.Decided:
			if value := ""; calls[f.Meta.Call].call.Name == "book" && json.Unmarshal(f.Decision.Value, &value) == nil &&
				strings.HasPrefix(value, "answer-") {
				require.Equal(t, answer(f.Decision.ID), value)
				calls[f.Meta.Call].answers = append(calls[f.Meta.Call].answers, value)
				n.resumed++
			}
		case *agent.ToolFinished:
			require.Nil(t, calls[f.Call.ID].result, "each call has one result")
			calls[f.Call.ID].result = f.Result
		}
	}
	require.Equal(t, Runs, runs, "each input was run once")
	for _, c := range calls {
		require.NotNil(t, c.result, "each call has a result")
		c.check(t, w)
	}
	n.sessions, n.facts, n.calls = 1, len(facts), len(calls)
	return n
}

// shown returns a fact as readers see it: without the state of a suspended call.
func shown(f agent.Fact) agent.Fact {
	if s, ok := f.(*agent.Suspended); ok {
		own := *s
		own.State = nil
		return &own
	}
	return f
}

// check compares what the log says about a call with its effect.
func (c *record) check(t *testing.T, w *World) {
	var in Order
	require.NoError(t, json.Unmarshal(c.call.Input, &in))
	good := c.result.Status.Good()
	if !good && c.started {
		t.Logf("order %d: %s: %s", in.N, c.call.Name, c.result.Text())
	}
	switch c.call.Name {
	case "load", "pick":
		return
	case "mark":
		times, err := w.Marked(in.N)
		require.NoError(t, err)
		require.True(t, times > 0 || !good, "mark %d: %d times, %s", in.N, times, c.result.Status)
		return
	}
	paid, note, err := w.Paid(in.N)
	require.NoError(t, err)
	require.LessOrEqual(t, paid, 1, "order %d was paid twice", in.N)
	require.True(t, paid == 1 || !good, "order %d was lost: %s", in.N, c.result.Status)
	require.True(t, paid == 0 || c.started, "order %d was paid by a call that wasn't started", in.N)
	if c.call.Name == "book" && paid == 1 {
		require.Len(t, c.answers, questions, "order %d", in.N)
		require.Equal(t, strings.Join(c.answers, " "), note)
	}
}
