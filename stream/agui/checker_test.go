package agui_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/aguitest"
	"github.com/pawlkit/pawl/stream/agui"
)

var share = flag.Int("share", 10, "how many random cases are tried, in percent")

// TestWhateverIsWrittenTheStreamIsLegal writes random events, of which many are refused.
func TestWhateverIsWrittenTheStreamIsLegal(t *testing.T) {
	written := make(map[string]int)
	refused := make(map[string]int)
	for seed := range uint64(400 * *share / 100) {
		r := rand.New(rand.NewPCG(seed, 2))
		var stream []string
		c := new(checker)
		w := agui.NewWriter(func(data []byte) error {
			stream = append(stream, string(data))
			require.NotContains(t, string(data), "\n")
			var e event
			require.NoError(t, json.Unmarshal(data, &e), "%s", data)
			require.NoError(t, c.accept(e), "seed %d:\n%s", seed, strings.Join(stream, "\n"))
			written[e.Type]++
			return nil
		})
		if r.IntN(20) > 0 {
			require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
		}
		for range r.IntN(150) {
			e, before := aguitest.Event(r), len(stream)
			if f, ok := e.(agui.RunFinished); ok && f.Outcome.Type == "" && r.IntN(3) > 0 {
				continue // long runs have more in them
			}
			err := w.Write(e)
			if err == nil {
				require.Greater(t, len(stream), before)
				continue
			}
			_, grammar := errors.AsType[*agui.GrammarError](err)
			require.True(t, grammar || strings.Contains(err.Error(), "has no JSON"), "%T: %v", err, err)
			require.Len(t, stream, before, "a refused event was written: %v", err)
			refused[fmt.Sprintf("%T", e)]++
		}
		require.NoError(t, w.Close())
		if len(stream) > 0 {
			require.Contains(t, []string{"finished", "failed"}, c.state)
		}
		before := len(stream)
		require.NoError(t, w.Close())
		require.ErrorAs(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r9"}), new(*agui.GrammarError))
		require.Len(t, stream, before)
	}
	require.Len(t, written, 18, "each type was written")
	require.Greater(t, len(refused), 10)
}

// An event is one as a client reads it.
type event struct {
	Type, ThreadID, RunID, ProtocolVersion, MessageID, ToolCallID, StepName string

	Messages []agui.Message
	Outcome  agui.Outcome
}

// A checker is a client that rejects everything that the specification forbids. It is written from
// the rules for what a producer must not do (lifecycle, streaming, tool calls, reasoning), and
// shares no code with the Writer.
type checker struct {
	thread, run string
	state       string // "", "active", "finished" or "failed"

	open     map[string]bool // "TEXT_MESSAGE m1"
	started  []string        // tool calls
	answered map[string]bool
}

func (c *checker) accept(e event) error {
	switch e.Type {
	case "RUN_STARTED":
		if c.state == "active" || c.thread != "" && c.thread != e.ThreadID || e.ProtocolVersion == "" {
			return fmt.Errorf("%s in an active run, of another thread, or without a version", e.Type)
		}
		*c = checker{thread: e.ThreadID, run: e.RunID, state: "active", open: make(map[string]bool),
			answered: make(map[string]bool)}
		return nil
	case "RUN_ERROR":
		if c.state == "failed" {
			return fmt.Errorf("%s after another", e.Type)
		}
		c.state = "failed"
		return nil
	}
	if c.state != "active" {
		return fmt.Errorf("%s in state %q", e.Type, c.state)
	}
	kind, what, _ := cutLast(e.Type)
	name := kind + " " + e.MessageID + e.ToolCallID
	switch {
	case kind == "STEP":
		name = "STEP " + e.StepName
		if c.open[name] != (what == "FINISHED") {
			return fmt.Errorf("%s of %q", e.Type, e.StepName)
		}
		c.open[name] = what == "STARTED"
	case what == "START":
		if c.open[name] {
			return fmt.Errorf("%s is open", name)
		}
		if c.open[name] = true; kind == "TOOL_CALL" && !slices.Contains(c.started, e.ToolCallID) {
			c.started = append(c.started, e.ToolCallID)
		}
	case what == "CONTENT" || what == "ARGS" || what == "END":
		if !c.open[name] {
			return fmt.Errorf("%s: %s isn't open", e.Type, name)
		}
		c.open[name] = what != "END"
	case what == "RESULT":
		if c.open["TOOL_CALL "+e.ToolCallID] || c.open["TEXT_MESSAGE "+e.MessageID] {
			return fmt.Errorf("the call %q or the message %q is open", e.ToolCallID, e.MessageID)
		}
		c.answered[e.ToolCallID] = true
	case e.Type == "MESSAGES_SNAPSHOT":
		return c.snapshot(e.Messages)
	case e.Type == "RUN_FINISHED":
		return c.finish(e)
	}
	return nil
}

func cutLast(t string) (kind, what string, ok bool) {
	i := strings.LastIndexByte(t, '_')
	if i < 0 {
		return "", t, false
	}
	return t[:i], t[i+1:], true
}

// snapshot replaces the client's messages. What is open and not in it would be dropped, and its
// next event would have no message.
func (c *checker) snapshot(messages []agui.Message) error {
	kept := make(map[string]bool)
	for _, m := range messages {
		kept["TEXT_MESSAGE "+m.ID], kept["REASONING_MESSAGE "+m.ID] = true, true
		for _, call := range m.ToolCalls {
			kept["TOOL_CALL "+call.ID] = true
		}
	}
	for name, open := range c.open {
		if open && !kept[name] && !strings.HasPrefix(name, "STEP ") {
			return fmt.Errorf("%s is open and isn't in the snapshot", name)
		}
	}
	return nil
}

func (c *checker) finish(e event) error {
	c.state = "finished"
	if e.ThreadID != c.thread || e.RunID != c.run {
		return fmt.Errorf("of another run")
	}
	for name, open := range c.open {
		if open {
			return fmt.Errorf("open: %v", name)
		}
	}
	if e.Outcome.Type == agui.OutcomeSuccess || e.Outcome.Type == "" {
		named := e.Outcome.PendingToolCallIDs
		for _, id := range c.started {
			if !c.answered[id] && !slices.Contains(named, id) {
				return fmt.Errorf("%q is pending, and not among %q", id, named)
			}
		}
		if slices.ContainsFunc(named, func(id string) bool { return c.answered[id] }) {
			return fmt.Errorf("one of %q has a result", named)
		}
	}
	ids := make(map[string]bool)
	for _, in := range e.Outcome.Interrupts {
		if ids[in.ID] {
			return fmt.Errorf("two interrupts %q", in.ID)
		}
		ids[in.ID] = true
	}
	return nil
}
