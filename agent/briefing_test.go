package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestARetryIsToldWhatWasTriedWhyItFailedAndWhatToAvoid(t *testing.T) {
	write := tools.New(tools.Spec{Name: "write"}, func(_ context.Context, in Number) (string, error) {
		if in.N == 7 {
			return "", errors.New("page 7 is locked\nby ann, token secret-7")
		}
		return fmt.Sprintf("wrote %d", in.N), nil
	})
	cfg := agent.Config{Tools: []tools.Tool{write}, Limits: agent.Limits{Steps: 4}, Redact: func(s string) string {
		return strings.ReplaceAll(s, "secret-7", "[redacted]")
	}}
	a, _ := scripted(t, cfg, call("write", 1), call("write", 7), call("write", 7), call("write", 8),
		say("I could not write page 7"))
	first := run(t, a)
	require.Equal(t, agent.Stopped, first.Status)

	b := notes.BriefingOf(nil, first)
	require.Len(t, b.Attempts, 1)
	require.Equal(t, []string{`write {"n":1} → ok: wrote 1`, `write {"n":7} → failed: page 7 is locked`,
		`write {"n":7} → failed: page 7 is locked`, `write {"n":8} → ok: wrote 8`}, b.Attempts[0].Calls)
	require.Contains(t, b.Attempts[0].Why, "stopped: agent: Limits.Steps is reached")
	require.Equal(t, "I could not write page 7", b.Attempts[0].LastText)
	require.Equal(t, []string{`write {"n":7} → failed: page 7 is locked (2 times)`}, b.Avoid)
	require.Equal(t, b, notes.BriefingOf(first), "the same for the same")

	b.Avoid = append(b.Avoid, "page 9: its owner said no; secret-7")
	a, m := scripted(t, cfg, say("done"))
	res := runInput(t, a, agent.Input{Session: "s-2", Prompt: "write the pages",
		Parts: []provider.Part{provider.TextPart(b.Text())}})
	require.Equal(t, agent.Completed, res.Status)
	told := m.Requests()[0].Messages[0]
	require.Equal(t, "write the pages", told.Parts[0].Text, "the prompt stays as it is")
	for _, want := range []string{"Attempt 1 ended as stopped", "page 7 is locked (2 times)",
		"its owner said no; [redacted]"} {
		require.Contains(t, told.Parts[1].Text, want)
	}
}

func TestABriefingSeesAllRunsOfAChain(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			write := tools.New(tools.Spec{Name: "write"}, func(_ context.Context, in Number) (string, error) {
				if in.N == 7 {
					return "", errors.New("page 7 is locked, token secret-7")
				}
				return fmt.Sprintf("wrote %d", in.N), nil
			})
			next := handing("next", func(context.Context, Number) (string, error) { return "ok", nil })
			gate := tools.New(tools.Spec{Name: "gate", Approval: tools.AskAlways},
				func(context.Context, Number) (string, error) { return "passed", nil })
			mem := small()
			mem.ContextReset = noted()
			cfg := agent.Config{Memory: mem, Tools: []tools.Tool{write, next, gate}, Journal: store(),
				Redact: func(s string) string { return strings.ReplaceAll(s, "secret-7", "[redacted]") }}
			a, _ := scripted(t, cfg, call("write", 7), call("write", 1), call("next", 0), call("write", 7),
				providertest.Reply(say("I try again"), call("next", 0)), call("gate", 0), say("done"))
			res := run(t, a)
			require.Equal(t, agent.Paused, res.Status)
			b := notes.BriefingOf(res)
			require.Len(t, b.Attempts, 1)
			want := []string{`write {"n":7} → failed: page 7 is locked, token [redacted]`,
				`write {"n":1} → ok: wrote 1`, `next {"n":0} → ok: ok`,
				`write {"n":7} → failed: page 7 is locked, token [redacted]`, `next {"n":0} → ok: ok`,
				`gate {"n":0} → no result`}
			require.Equal(t, want, b.Attempts[0].Calls)
			require.Equal(t, "I try again", b.Attempts[0].LastText)
			require.Equal(t, []string{`write {"n":7} → failed: page 7 is locked, token [redacted] (2 times)`}, b.Avoid)
			require.Equal(t, b, notes.BriefingOf(res), "the same for the same")

			if cfg.Journal != nil { // in another process
				a = reopen(t, cfg, say("done"))
			}
			res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			b = notes.BriefingOf(res)
			want[5] = `gate {"n":0} → ok: passed`
			require.Equal(t, want, b.Attempts[0].Calls)
			require.Equal(t, "done", b.Attempts[0].LastText)
			require.Len(t, b.Avoid, 1)
		})
	}
}

func TestWhatAChainHasTriedIsBoundedHoweverLongItIs(t *testing.T) {
	const runs, each = 6, 40
	write := tools.New(tools.Spec{Name: "write"}, func(context.Context, struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}) (string, error) {
		return "", errors.New(strings.Repeat("no ", 1_000))
	})
	mem := small()
	mem.ContextReset = noted()
	var steps []providertest.Step
	for i := range runs {
		var specs []providertest.CallSpec
		for n := range each {
			specs = append(specs, providertest.CallSpec{Tool: "write",
				Input: map[string]any{"n": i*each + n, "text": strings.Repeat("ü", 500)}})
		}
		steps = append(steps,
			providertest.Calls(append(specs, providertest.CallSpec{Tool: "next", Input: Number{i}})...))
	}
	a, _ := scripted(t, agent.Config{Memory: mem,
		Tools: []tools.Tool{write,
			handing("next", func(context.Context, Number) (string, error) { return "ok", nil })},
		Limits: agent.Limits{Repeats: -1, Steps: 50}}, append(steps, say("done"))...)
	b := notes.BriefingOf(run(t, a))
	require.Len(t, b.Attempts[0].Calls, 31)
	require.Equal(t, fmt.Sprintf("(%d earlier calls)", runs*(each+1)-30), b.Attempts[0].Calls[0])
	require.Contains(t, b.Attempts[0].Calls[30], `next {"n":5}`)
	require.Len(t, b.Avoid, 20)
	state := machineOf(t, a, "s").State()
	require.Equal(t, runs, state.Run.ContextReset.Index)
	require.Less(t, len(asText(t, state.Run.ContextReset)), 50_000)
}
