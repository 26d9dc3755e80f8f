package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A scene is a run that tests interrupt at every one of its events.
type scene struct {
	steps []providertest.Step
	limit agent.Limits
	hooks []agent.Hooks
	// paused says that the run is one that continues after these steps have brought the session to
	// a pause.
	paused []providertest.Step
	// byHost says that the host brought it there, before any call of the reply was run.
	byHost bool
	// input makes the input of such a run.
	input func(*agent.Result) agent.Work
	fails bool
}

func approveAll(res *agent.Result) agent.Resumption {
	var ds []agent.Decision
	for _, p := range res.Pending {
		ds = append(ds, agent.Approve(p.ID))
	}
	return agent.Resume(res.Session, ds...)
}

// scenes hold every kind of event, and every path of a call.
var scenes = map[string]scene{
	"text": {
		steps: []providertest.Step{providertest.Reply(providertest.Think("hm, well"), say("one two three"))}},
	"nothing":  {steps: []providertest.Step{providertest.Empty()}},
	"one call": {steps: []providertest.Step{providertest.Reply(say("I will."), call("work", 1)), say("Done.")}},
	"calls in row": {steps: []providertest.Step{call("work", 1), call("work", 2), call("fails", 3), call("panics", 4),
		providertest.Unfit(call("missing", 5)), say("Done.")}},
	"slow calls": {steps: []providertest.Step{calls("slow", 3, 2, 1), say("Done.")}},
	"more calls than the cap": {steps: []providertest.Step{calls("slow", 1, 2, 3, 4, 5), say("Done.")},
		limit: agent.Limits{ParallelCalls: 2}},
	"barriers": {steps: []providertest.Step{providertest.Calls(
		providertest.CallSpec{Tool: "slow", Input: Number{2}}, providertest.CallSpec{Tool: "work", Input: Number{10}},
		providertest.CallSpec{Tool: "slow", Input: Number{3}}, providertest.CallSpec{Tool: "slow", Input: Number{4}}),
		say("Done.")}},
	"progress": {steps: []providertest.Step{call("reports", 1), say("Done.")}},
	"retries": {steps: []providertest.Step{providertest.Fail(fault.RateLimited),
		providertest.FailAfter(4, say("It is a long"), fault.Degraded),
		providertest.Cut(6, providertest.Reply(say("Now"), call("work", 1))), call("work", 1),
		say("It is a long story.")}},
	"a slow model": {steps: []providertest.Step{providertest.Slow(time.Second,
		providertest.Reply(say("I will."), call("work", 1))), say("Done.")}},
	"failure": {steps: []providertest.Step{call("work", 1),
		providertest.FailAfter(3, say("And now the"), fault.Permanent)}, fails: true},
	"a cut reply": {steps: []providertest.Step{providertest.Stop("length", calls("work", 1, 2)), say("Done.")}},
	"limit": {steps: []providertest.Step{call("work", 1), call("work", 2),
		providertest.Unfit(calls("work", 3, 4))},
		limit: agent.Limits{Steps: 2}},
	"approval": {steps: []providertest.Step{providertest.Calls(
		providertest.CallSpec{Tool: "risky", Input: Number{1}}, providertest.CallSpec{Tool: "slow", Input: Number{2}},
		providertest.CallSpec{Tool: "risky", Input: Number{3}},
		providertest.CallSpec{Tool: "asks", Input: Number{4}})}},
	"after an approval": {
		paused: []providertest.Step{calls("risky", 1, 2)},
		input:  func(res *agent.Result) agent.Work { return approveAll(res) },
		steps:  []providertest.Step{say("Done.")}},
	"after a refusal": {
		paused: []providertest.Step{calls("risky", 1, 2)},
		input: func(res *agent.Result) agent.Work {
			return agent.Resume("s", agent.Reject(res.Pending[0].ID, "no"))
		}},
	"instead of a paused run": {
		paused: []providertest.Step{calls("risky", 1, 2)},
		input: func(*agent.Result) agent.Work {
			return agent.Input{Session: "s", Prompt: "something else", Supersede: true}
		},
		steps: []providertest.Step{call("work", 3), say("Done.")}},
	"instead of a run paused by its host": {
		paused: []providertest.Step{calls("work", 1, 2)}, byHost: true,
		input: func(*agent.Result) agent.Work {
			return agent.Input{Session: "s", Prompt: "something else", Supersede: true}
		},
		steps: []providertest.Step{call("work", 3), say("Done.")}},
	"on with a run paused by its host": {
		paused: []providertest.Step{calls("work", 1, 2)}, byHost: true,
		input: func(*agent.Result) agent.Work { return agent.Continue("s") },
		steps: []providertest.Step{say("Done.")}},
	"sent back": {steps: []providertest.Step{say("Done."), say("Done, really.")},
		hooks: []agent.Hooks{{BeforeFinish: func(_ context.Context, r *agent.Result) error {
			if r.Text() == "Done." {
				return agent.SendBack("really")
			}
			return nil
		}}}},
	"aborted before a call": {steps: []providertest.Step{calls("work", 1, 2, 3)},
		hooks: []agent.Hooks{{BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
			if c.Index == 1 {
				return agent.Abort(context.DeadlineExceeded)
			}
			return nil
		}}}},
	"aborted after a call": {steps: []providertest.Step{calls("slow", 1, 2, 3)},
		hooks: []agent.Hooks{{AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			if c.Index == 1 && r.Status == tools.OK {
				return agent.Abort(context.DeadlineExceeded)
			}
			return nil
		}}}},
}

// A stage is a scene that is set up: one agent, one session, one run to interrupt.
type stage struct {
	agent *agent.Agent
	model *swap
	input agent.Work
	done  *effects
}

func (sc *scene) stage(t testing.TB, store journal.Store) *stage {
	t.Helper()
	st := &stage{model: &swap{}, done: &effects{}, input: agent.Input{Session: "s", Prompt: "go"}}
	st.model.set(providertest.Script(append(sc.paused, sc.steps...)...))
	st.agent = newAgent(t, agent.Config{
		Provider: st.model, Journal: store, Limits: sc.limit, Hooks: sc.hooks,
		Tools: []tools.Tool{
			st.done.tool(tools.Spec{Name: "work"}),
			st.done.slow(tools.Spec{Name: "slow", ParallelSafe: true}),
			st.done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
			tools.New(tools.Spec{Name: "fails"}, func(context.Context, Number) (string, error) {
				return "", fault.New(fault.Transient, "down")
			}),
			tools.New(tools.Spec{Name: "panics"}, func(context.Context, Number) (string, error) { panic("boom") }),
			tools.New(tools.Spec{Name: "asks"}, func(context.Context, Number) (string, error) {
				return "", tools.Suspend{Kind: "question", Prompt: "which one?"}
			}),
			tools.New(tools.Spec{Name: "reports", Progress: true},
				func(ctx context.Context, in Number) (string, error) {
					for range 3 {
						tools.Progress(ctx, tools.ProgressReport{Text: "working"})
						if err := wait(ctx, time.Second); err != nil {
							return "", err
						}
					}
					st.done.add(in.N)
					return "ok", nil
				}),
		},
	})
	if sc.input != nil {
		all, err := events(func(yield func(agent.Event, error) bool) {
			for ev, err := range st.agent.Stream(context.Background(), st.input) {
				if _, ok := ev.(*agent.CallBegun); ok && sc.byHost {
					require.NoError(t, st.agent.Session("s").Pause(context.Background()))
				}
				yield(ev, err)
			}
		})
		require.NoError(t, err)
		res := lastResult(t, all)
		require.Equal(t, agent.Paused, res.Status)
		st.input = sc.input(res)
	}
	return st
}

// requireOnce fails the test if anything was done twice.
func (st *stage) requireOnce(t testing.TB) {
	t.Helper()
	for n := range 12 {
		require.LessOrEqual(t, st.done.of(n), 1, "the effect of %d", n)
	}
}

// wait waits by the bubble's clock, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
