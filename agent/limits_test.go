package agent_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// dear is a model whose tokens cost a dollar each.
var dear = provider.ModelInfo{Prices: &provider.Prices{Input: 1_000_000 * provider.USD,
	Output: 1_000_000 * provider.USD}}

// unmetered is a model that doesn't report what it uses.
type unmetered struct{ *providertest.Model }

func (u unmetered) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for c, err := range u.Model.Stream(ctx, req) {
			if c.Kind == provider.KindEnd {
				c = provider.EndUnmetered(c.Extra.Stop)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func TestUsageThatIsNotReportedCountsAsEstimated(t *testing.T) {
	model := providertest.Script(call("work", 1), call("work", 2), call("work", 3))
	var done effects
	a := newAgent(t, agent.Config{Provider: unmetered{model}, Limits: agent.Limits{Tokens: 10},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
	res := run(t, a)
	require.Equal(t, agent.Stopped, res.Status)
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitTokens, limit.Limit)
	require.True(t, res.Usage.Estimated)
	require.Positive(t, res.Usage.Input)
}

func TestEveryLimitEndsARunWithItsName(t *testing.T) {
	many := []providertest.Step{}
	for i := range 20 {
		many = append(many, providertest.Unfit( // it also calls when no tools are left
			providertest.WithUsage(provider.Usage{Input: 2, Output: 1}, call("work", i))))
	}
	for name, c := range map[string]struct {
		limits    agent.Limits
		max, have int64
		calls     int
	}{
		machine.LimitSteps:         {agent.Limits{Steps: 3}, 3, 3, 4},
		machine.LimitStepsPerPhase: {agent.Limits{StepsPerPhase: 2}, 2, 2, 3},
		machine.LimitTokens:        {agent.Limits{Tokens: 8}, 8, 9, 3},
		machine.LimitCost: {agent.Limits{Cost: 6 * provider.USD}, int64(6 * provider.USD),
			int64(6 * provider.USD), 2},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			model := providertest.Script(many...)
			a := newAgent(t, agent.Config{Provider: model.WithInfo(dear), Limits: c.limits,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
			res := run(t, a)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, machine.CodeLimit, res.Code)
			var limit *agent.LimitError
			require.ErrorAs(t, res.Err(), &limit)
			require.Equal(t, name, limit.Limit)
			require.Equal(t, c.max, limit.Max)
			require.Equal(t, c.have, limit.Have)
			require.Contains(t, res.Reason, name)
			model.AssertCalls(t, c.calls)
			require.Equal(t, c.calls, res.Steps)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestTheLastCallIsWithoutTools(t *testing.T) {
	var done effects
	a, model := scripted(t,
		agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}, Limits: agent.Limits{Steps: 2}},
		call("work", 1), call("work", 2), say("I did two of three."))
	res := run(t, a)
	require.Equal(t, "I did two of three.", res.Text())
	require.Equal(t, 3, res.Steps)
	model.AssertDone(t)
	model.AssertTools(t, 1, "work")
	model.AssertTools(t, 2)
	model.AssertSaw(t, 2, providertest.UserText("limit"))
	require.Equal(t, provider.ChooseNone, model.Requests()[2].ToolChoice.Mode)
}

func TestTwelveStepsAndAThirteenthAreTheDefault(t *testing.T) {
	n := 0
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if len(req.Tools) == 0 {
			return say("That's all.").Response(), nil
		}
		n++
		return call("work", n).Response(), nil
	})
	var done effects
	a := newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
	res := run(t, a)
	require.Equal(t, 12, done.all())
	require.Equal(t, 13, res.Steps)
	require.Equal(t, "That's all.", res.Text())
}

func TestARunLastsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Limits: agent.Limits{Duration: time.Minute}, Tools: []tools.Tool{
			done.slow(tools.Spec{Name: "slow", Timeout: time.Hour}),
			done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
			call("slow", 40), call("risky", 1), call("slow", 30))
		began := time.Now()
		res := run(t, a)
		require.Equal(t, agent.Paused, res.Status)
		require.NoError(t, wait(t.Context(), time.Hour)) // doesn't count
		res = runInput(t, a, approveAll(res))
		require.Equal(t, agent.Stopped, res.Status)
		var limit *agent.LimitError
		require.ErrorAs(t, res.Err(), &limit)
		require.Equal(t, machine.LimitDuration, limit.Limit)
		require.Equal(t, time.Hour+time.Minute, time.Since(began))
		require.Equal(t, tools.Canceled, finished(t, a, "s")[2].Status)
		require.Equal(t, 1, done.of(1))
	})
}

func TestAModelThatRepeatsItselfIsToldAtTheThirdTimeAndStoppedAtTheFifth(t *testing.T) {
	for name, c := range map[string]struct {
		tool  func(context.Context, Number) (string, error)
		polls bool
		stops bool
	}{
		"the same result": {func(context.Context, Number) (string, error) { return "same", nil }, false, true},
		"failures": {func() func(context.Context, Number) (string, error) {
			n := ""
			return func(context.Context, Number) (string, error) { n += "!"; return "", errors.New(n) }
		}(), false, true},
		"polling": {func(context.Context, Number) (string, error) { return "same", nil }, true, false},
		"progress": {func() func(context.Context, Number) (string, error) {
			n := ""
			return func(context.Context, Number) (string, error) { n += "!"; return n, nil }
		}(), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			work := tools.New(tools.Spec{Name: "work", Polls: c.polls}, c.tool)
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{work}}, call("work", 1), call("work", 1),
				call("work", 1), call("work", 1), call("work", 1), say("Done."))
			res := run(t, a)
			warned := providertest.ToolResultText("work", "several times in a row")
			model.AssertDidNotSee(t, 2, warned)
			if !c.stops {
				require.Equal(t, "Done.", res.Text())
				model.AssertDidNotSee(t, 5, warned)
				return
			}
			model.AssertSaw(t, 3, warned)
			model.AssertCalls(t, 5)
			var limit *agent.LimitError
			require.ErrorAs(t, res.Err(), &limit)
			require.Equal(t, machine.LimitRepeats, limit.Limit)
			require.Contains(t, limit.Error(), "work")
		})
	}
}

func TestAModelMayCorrectItselfTwice(t *testing.T) {
	bad := providertest.Unfit(providertest.Call("work", map[string]any{"n": "x"}))
	var done effects
	cfg := agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"}), done.tool(tools.Spec{Name: "other"})}}
	a, model := scripted(t, cfg, bad, bad, call("work", 1), bad, bad, bad, call("work", 2), call("other", 3),
		say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	require.Equal(t, 1, done.of(1), "a correction counts")
	require.Zero(t, done.of(2))
	require.Equal(t, 1, done.of(3), "only that tool is out of use")
	model.AssertSaw(t, 7, providertest.ToolResultText("work", "not available in this run"))
	require.Equal(t, tools.Unavailable, finished(t, a, "s")[6].Status)
}

func TestAPersonMayCorrectWhatTheModelCouldnt(t *testing.T) {
	bad := providertest.Unfit(providertest.Call("work", map[string]any{"n": "x"}))
	for name, c := range map[string]struct {
		decide func(string) agent.Decision
		ran    int
		says   string
	}{
		"edit":   {func(id string) agent.Decision { return agent.Edit(id, Number{4}) }, 1, "done 4"},
		"reject": {func(id string) agent.Decision { return agent.Reject(id, "leave it") }, 0, "leave it"},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a, model := scripted(t, agent.Config{Limits: agent.Limits{AskAfterCorrections: true},
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, bad, bad, bad, say("Done."))
			res := run(t, a)
			require.Len(t, res.Pending, 1)
			p := res.Pending[0]
			require.Equal(t, agent.PauseCorrection, p.Kind)
			_, err := a.Run(t.Context(), agent.Resume("s", agent.Approve(p.ID)))
			var de *agent.DecisionError
			require.ErrorAs(t, err, &de, "what doesn't fit can't be approved")
			require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", c.decide(p.ID))).Text())
			require.Equal(t, c.ran, done.of(4))
			model.AssertSaw(t, 3, providertest.ToolResultText("work", c.says))
		})
	}
}

func TestAStopConditionCompletesARun(t *testing.T) {
	boom := func(*stop.State) (string, bool) { panic("boom") }
	never := func(*stop.State) (string, bool) { return "", false }
	for name, c := range map[string]struct {
		when   stop.Condition
		calls  int
		status agent.Status
	}{
		"after steps":       {stop.AfterSteps(2), 2, agent.Completed},
		"after a tool":      {stop.AfterTool("missing", "work"), 1, agent.Completed},
		"when text matches": {stop.WhenText(regexp.MustCompile("second")), 2, agent.Completed},
		"any":               {stop.AnyOf(never, stop.AfterSteps(1)), 1, agent.Completed},
		"never":             {never, 3, agent.Completed},
		"nil":               {nil, 3, agent.Completed},
		"a panic":           {boom, 1, agent.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a, model := scripted(t, agent.Config{StopWhen: []stop.Condition{c.when},
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
				providertest.Reply(say("The first."), call("work", 1)),
				providertest.Reply(say("The second."), call("work", 2)), say("Done."))
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.Equal(t, c.status, res.Status)
			require.Equal(t, c.status == agent.Failed, err != nil)
			model.AssertCalls(t, c.calls)
			if c.calls < 3 && err == nil {
				require.Equal(t, machine.CodeCondition, res.Code)
				require.NotEmpty(t, res.Reason)
				require.NoError(t, res.Err())
			}
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestACutAnswerSaysSo(t *testing.T) {
	for stop, want := range map[provider.StopReason]error{provider.StopLength: machine.ErrCutAnswer,
		provider.StopFiltered: machine.ErrFiltered} {
		a, _ := scripted(t, agent.Config{}, providertest.Stop(stop, say("It is")))
		res := run(t, a)
		require.Equal(t, agent.Stopped, res.Status)
		require.ErrorIs(t, res.Err(), want)
		require.Equal(t, "It is", res.Text())
	}
}

func TestAnAnswerThatBreaksOffIsBookedAsEstimated(t *testing.T) {
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}},
		providertest.FailAfter(4, say("It is a long story, and it ends here"), fault.Permanent))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "tell me"})
	require.Error(t, err)
	require.True(t, res.Usage.Estimated)
	require.Positive(t, res.Usage.Input)
	require.Positive(t, res.Usage.Output)

	b, _ := scripted(t, agent.Config{}, providertest.Fail(fault.Permanent))
	res, err = b.Run(t.Context(), agent.Input{Prompt: "tell me"})
	require.Error(t, err)
	require.Zero(t, res.Usage.Total(), "nothing was said, so nothing is known to have been used")
}

func TestAnOddUsageNeverGetsARunPastItsLimitOfTokens(t *testing.T) {
	for name, odd := range map[string]provider.Usage{
		"too large":  {Input: math.MaxInt64, Output: math.MaxInt64},
		"below zero": {Input: -1_000_000, Output: 600_000},
	} {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
			providertest.WithUsage(odd, call("work", 1)), providertest.WithUsage(odd, call("work", 2)), say("on"),
			say("and on"))
		res := run(t, a)
		var limit *agent.LimitError
		require.ErrorAs(t, res.Err(), &limit, name)
		require.Equal(t, machine.LimitTokens, limit.Limit, name)
	}
}

// TestASwitchOfModesMovesTheTimeOfARun: to a later end, to an earlier one, and to none. A call
// works on under it.
func TestASwitchOfModesMovesTheTimeOfARun(t *testing.T) {
	const works = 30 * time.Minute
	for to, want := range map[string]time.Duration{
		"long": 0, "endless": 0, // it completes
		"short": 10 * time.Second, "start": time.Minute,
	} {
		t.Run(to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := func(d time.Duration) *agent.Limits { return &agent.Limits{Duration: d} }
				a, err := agent.New(agent.Config{
					Provider: providertest.Script(call("work", 1), say("Done.")),
					Modes: []agent.Mode{
						{Name: "start", Limits: limit(time.Minute)}, {Name: "long", Limits: limit(time.Hour)},
						{Name: "endless", Limits: limit(-1)}, {Name: "short", Limits: limit(10 * time.Second)},
					},
					Tools: []tools.Tool{tools.New(tools.Spec{Name: "work", Timeout: 24 * time.Hour},
						func(ctx context.Context, _ Number) (string, error) {
							if err := agent.SwitchMode(ctx, to, ""); err != nil {
								return "", err
							}
							select {
							case <-ctx.Done():
								return "", ctx.Err()
							case <-time.After(works):
								return "worked", nil
							}
						})},
				})
				require.NoError(t, err)
				began := time.Now()
				res, _ := a.Run(t.Context(), agent.Input{Prompt: "Go."})
				if want == 0 {
					require.Equal(t, agent.Completed, res.Status, "%v", res.Err())
					require.Equal(t, works, time.Since(began))
					return
				}
				var over *agent.LimitError
				require.ErrorAs(t, res.Err(), &over)
				require.Equal(t, machine.LimitDuration, over.Limit)
				require.EqualValues(t, want, over.Max)
				require.Equal(t, want, time.Since(began))
			})
		})
	}
}
