package machine_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A drill drives a run to its end: the model says what reply returns, and calls end as result says.
type drill struct {
	t       *testing.T
	m       *machine.Machine
	origin  machine.Origin
	reply   func(step int) *machine.Replied
	result  func(n int) *machine.ToolResult // the nth; nil stands for a new success each time
	between func(step int) []machine.Fact   // facts between the steps, without envelope
	calls   int                             // model calls
	tools   int                             // tool calls that were started
}

func newDrill(t *testing.T, limits machine.Limits, reply func(step int) *machine.Replied) *drill {
	d := &drill{t: t, m: machine.New("s-1"), origin: machine.Origin{Session: "s-1", Run: "r-1"}, reply: reply}
	d.apply(&machine.RunStarted{Meta: d.meta(""), Message: provider.User("go"), Limits: &limits})
	return d
}

func (d *drill) meta(call string) machine.Meta {
	return machine.Meta{Origin: &d.origin, Seq: d.m.State().Seq + 1, Time: time.Unix(int64(d.m.State().Seq), 0),
		Step: stepOf(d.m), Call: call}
}

func (d *drill) apply(f machine.Fact) {
	d.t.Helper()
	require.NoError(d.t, d.m.Apply(f))
}

// end drives the run until it ends, and returns the action that ends it.
func (d *drill) end() machine.Action {
	d.t.Helper()
	for range 10_000 {
		r := d.m.State().Run
		a := d.m.Next()
		switch a.Kind {
		case machine.ActCallModel:
			if d.between != nil && r.Step > 0 {
				for _, f := range d.between(r.Step) {
					d.apply(withMeta(f, func(m *machine.Meta) { *m = d.meta("") }))
				}
				if a = d.m.Next(); a.Kind != machine.ActCallModel {
					continue
				}
			}
			start := &machine.StepStarted{Meta: d.meta(""), Final: a.Final}
			start.Step++
			d.apply(start)
			d.calls++
			f := d.reply(r.Step)
			f.Meta, f.Message.Role = d.meta(""), provider.RoleAssistant
			n := 0
			for i := range f.Message.Parts {
				if c := f.Message.Parts[i].Call; c != nil {
					c.ID = machine.CallID("r-1", r.Step, n)
					n++
				}
			}
			d.apply(f)
		case machine.ActRunCalls:
			c := r.Calls[a.Calls[0]].Call
			d.tools++
			d.apply(&machine.ToolStarted{Meta: d.meta(c.ID), Call: c, IdempotencyKey: c.ID})
			res := &machine.ToolResult{Status: tools.OK,
				ToolResult: provider.ToolResult{
					Parts: []provider.Part{provider.TextPart(fmt.Sprint("result ", d.tools))}}}
			if d.result != nil {
				res = d.result(d.tools)
			}
			res.CallID = c.ID
			d.apply(&machine.ToolFinished{Meta: d.meta(c.ID), Call: c, Result: res})
		case machine.ActSettle:
			for _, i := range a.Calls {
				c := r.Calls[i].Call
				d.apply(&machine.ToolFinished{Meta: d.meta(c.ID), Call: c,
					Result: &machine.ToolResult{Status: tools.NotRun, ToolResult: provider.ToolResult{CallID: c.ID}}})
				if i == a.Calls[len(a.Calls)-1] {
					break
				}
			}
		case machine.ActFinish:
			require.NoError(d.t, balanced(d.m.State().Messages))
			d.apply(&machine.RunEnded{Meta: d.meta(""), Status: a.Status, Code: a.Code})
			require.Equal(d.t, machine.Action{}, d.m.Next())
			return a
		default:
			require.Fail(d.t, "unexpected action", "%+v", a)
		}
	}
	require.Fail(d.t, "the run doesn't end")
	return machine.Action{}
}

// limit drives the run to its end, which has to be a limit, and returns its error.
func (d *drill) limit() *machine.LimitError {
	d.t.Helper()
	a := d.end()
	require.Equal(d.t, machine.Stopped, a.Status)
	require.Equal(d.t, machine.CodeLimit, a.Code)
	var le *machine.LimitError
	require.ErrorAs(d.t, a.Err, &le)
	return le
}

func says(text string, stop provider.StopReason) *machine.Replied {
	f := &machine.Replied{Stop: stop}
	if text != "" {
		f.Message.Parts = []provider.Part{provider.TextPart(text)}
	}
	return f
}

// calls returns a reply that calls look once for each input.
func calls(stop provider.StopReason, inputs ...string) *machine.Replied {
	f := &machine.Replied{Stop: stop}
	for _, in := range inputs {
		c := &provider.ToolCall{Name: "look"}
		if json.Valid([]byte(in)) {
			c.Input = json.RawMessage(in)
		} else {
			c.Invalid = in
		}
		f.Message.Parts = append(f.Message.Parts, provider.Part{Kind: provider.PartToolCall, Call: c})
	}
	return f
}

// fresh returns a reply with a call that wasn't made before.
func fresh(step int) *machine.Replied { return calls(provider.StopToolCalls, fmt.Sprint(step)) }

func TestEveryModelEndsWithinTheLimits(t *testing.T) {
	limits := machine.DefaultLimits()
	status := func(s tools.Status) func(int) *machine.ToolResult {
		return func(int) *machine.ToolResult { return &machine.ToolResult{Status: s, Class: fault.Permanent} }
	}
	for name, c := range map[string]struct {
		reply  func(step int) *machine.Replied
		result func(int) *machine.ToolResult
		limit  string // empty: it isn't a limit that ends the run
		calls  int    // model calls
		status machine.Status
		code   string
	}{
		"always calls something new": {reply: fresh, limit: machine.LimitSteps, calls: 13},
		"always makes the same call": {reply: func(int) *machine.Replied {
			return calls(provider.StopToolCalls, "1")
		}, result: status(tools.OK), limit: machine.LimitRepeats, calls: 5},
		"five of the same in one reply": {reply: func(int) *machine.Replied {
			return calls(provider.StopToolCalls, "1", "1", "1", "1", "1", "1")
		}, result: status(tools.OK), limit: machine.LimitRepeats, calls: 1},
		"calls after done": {reply: func(s int) *machine.Replied {
			return calls(provider.StopDone, fmt.Sprint(s))
		}, limit: machine.LimitSteps, calls: 13},
		"calls for no reason": {reply: func(s int) *machine.Replied {
			return calls(provider.StopUnknown, fmt.Sprint(s))
		}, limit: machine.LimitSteps, calls: 13},
		"always cut within new calls": {reply: func(s int) *machine.Replied {
			return calls(provider.StopLength, fmt.Sprint("{", s))
		}, limit: machine.LimitSteps, calls: 13},
		"always cut within the same": {reply: func(int) *machine.Replied {
			return calls(provider.StopLength, "{")
		}, limit: machine.LimitSteps, calls: 13},
		"always filtered within a call": {reply: func(int) *machine.Replied {
			return calls(provider.StopFiltered, "1")
		}, limit: machine.LimitSteps, calls: 13},
		"never fits the schema": {reply: func(int) *machine.Replied {
			return calls(provider.StopToolCalls, "{")
		}, result: status(tools.Invalid), limit: machine.LimitRepeats, calls: 5},
		"never fits, each time anew": {reply: func(s int) *machine.Replied {
			return calls(provider.StopToolCalls, fmt.Sprint("{", s))
		}, result: status(tools.Invalid), limit: machine.LimitFailures, calls: 8},
		"always paused with text": {reply: func(int) *machine.Replied {
			return says("…", provider.StopPaused)
		}, limit: machine.LimitSteps, calls: 13},
		"always paused, saying nothing": {reply: func(int) *machine.Replied {
			return says("", provider.StopPaused)
		}, limit: machine.LimitSteps, calls: 13},
		"paused with calls": {reply: func(int) *machine.Replied {
			return calls(provider.StopPaused, "1")
		}, limit: machine.LimitSteps, calls: 13},
		"says nothing": {reply: func(int) *machine.Replied {
			return says("", provider.StopDone)
		}, calls: 1, status: machine.Completed},
		"calls nothing": {reply: func(int) *machine.Replied {
			return says("I would", provider.StopToolCalls)
		}, calls: 1, status: machine.Completed},
		"cut": {reply: func(int) *machine.Replied {
			return says("I wou", provider.StopLength)
		}, calls: 1, status: machine.Stopped, code: machine.CodeLength},
		"refuses": {reply: func(int) *machine.Replied {
			return says("", provider.StopFiltered)
		}, calls: 1, status: machine.Stopped, code: machine.CodeFiltered},
		"fails": {reply: func(int) *machine.Replied {
			return says("", provider.StopError)
		}, calls: 1, status: machine.Failed, code: machine.CodeProvider},
		"fails within a call": {reply: func(int) *machine.Replied {
			return calls(provider.StopError, "1")
		}, limit: machine.LimitSteps, calls: 13},
		"unheard-of stop reason": {reply: func(int) *machine.Replied {
			return says("hm", "novel")
		}, calls: 1, status: machine.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrill(t, limits, c.reply)
			if d.result = c.result; c.limit != "" {
				require.Equal(t, c.limit, d.limit().Limit)
			} else {
				a := d.end()
				require.Equal(t, c.status, a.Status)
				require.Equal(t, c.code, a.Code)
			}
			require.Equal(t, c.calls, d.calls)
		})
	}
}

func TestAForcedToolChoiceHoldsUntilItIsMet(t *testing.T) {
	for _, mode := range []provider.ToolChoiceMode{provider.ChooseRequired, provider.ChooseTool} {
		m := machine.New("s-1")
		d := &drill{t: t, m: m, origin: machine.Origin{Session: "s-1", Run: "r-1"}}
		d.apply(&machine.RunStarted{Meta: d.meta(""), Message: provider.User("go"),
			Limits:     new(machine.DefaultLimits()),
			ToolChoice: provider.ToolChoice{Mode: mode, Tool: "look"}})
		var choices []provider.ToolChoiceMode
		d.reply = func(step int) *machine.Replied {
			choices = append(choices, m.State().Run.ToolChoice.Mode)
			switch step {
			case 1:
				return says("wait", provider.StopPaused)
			case 2:
				return fresh(step)
			}
			return says("done", provider.StopDone)
		}
		require.Equal(t, machine.Completed, d.end().Status)
		require.Equal(t, []provider.ToolChoiceMode{mode, mode, provider.ChooseAuto}, choices)
	}
}

func TestTheStepLimitGrantsOneLastCallWithoutTools(t *testing.T) {
	for _, steps := range []int{1, 2, 5} {
		for says1 := 1; says1 <= steps+2; says1++ { // the model is done with this step
			t.Run(fmt.Sprintf("%d steps, done at %d", steps, says1), func(t *testing.T) {
				finals := 0
				var d *drill
				d = newDrill(t, machine.Limits{Steps: steps}.WithDefaults(), func(step int) *machine.Replied {
					if d.m.State().Run.Final != "" {
						finals++
					}
					if step == says1 {
						return says("done", provider.StopDone)
					}
					return fresh(step)
				})
				if says1 <= steps {
					require.Equal(t, machine.Completed, d.end().Status)
					require.Equal(t, says1, d.calls)
					require.Zero(t, finals)
					return
				}
				le := d.limit()
				require.Equal(t, &machine.LimitError{Limit: machine.LimitSteps, Max: int64(steps), Have: int64(steps)},
					le)
				require.Equal(t, steps+1, d.calls)
				require.Equal(t, 1, finals)
				require.Equal(t, steps, d.tools, "the calls of the last reply don't run")
			})
		}
	}
}

func TestWithoutAStepLimitTheModelMayGoOn(t *testing.T) {
	limits := machine.Limits{Steps: -1, Tokens: -1, Cost: -1, Repeats: -1, Failures: -1}.WithDefaults()
	d := newDrill(t, limits, func(step int) *machine.Replied {
		if step == 1000 {
			return says("done", provider.StopDone)
		}
		f := calls(provider.StopToolCalls, "1")
		f.Usage, f.Cost = provider.Usage{Input: 1 << 40}, 1<<40
		return f
	})
	d.result = func(int) *machine.ToolResult { return &machine.ToolResult{Status: tools.Failed} }
	require.Equal(t, machine.Completed, d.end().Status)
	require.Equal(t, 1000, d.calls)
}

func TestAPhaseCountsItsOwnSteps(t *testing.T) {
	limits := machine.Limits{Steps: 50, StepsPerPhase: 3}.WithDefaults()
	d := newDrill(t, limits, fresh)
	le := d.limit()
	require.Equal(t, &machine.LimitError{Limit: machine.LimitStepsPerPhase, Max: 3, Have: 3}, le)
	require.Equal(t, 4, d.calls)

	d = newDrill(t, limits, fresh)
	d.between = func(step int) []machine.Fact {
		if step == 3 || step == 6 { // right at the limit, before the model would be told
			return []machine.Fact{&machine.PhaseChanged{To: fmt.Sprint("phase ", step)}}
		}
		return nil
	}
	require.Equal(t, machine.LimitStepsPerPhase, d.limit().Limit)
	require.Equal(t, 10, d.calls)

	d = newDrill(t, machine.Limits{Steps: 5, StepsPerPhase: 3}.WithDefaults(), fresh)
	d.between = func(int) []machine.Fact { return []machine.Fact{&machine.PhaseChanged{To: "again"}} }
	require.Equal(t, machine.LimitSteps, d.limit().Limit)
	require.Equal(t, 6, d.calls)
}

func TestALastCallStaysTheLastWhateverHappens(t *testing.T) {
	d := newDrill(t, machine.Limits{StepsPerPhase: 1}.WithDefaults(), fresh)
	d.between = func(step int) []machine.Fact { return nil }
	for d.m.Next().Final == "" {
		d.apply(withMeta(&machine.StepStarted{}, func(m *machine.Meta) { *m = d.meta(""); m.Step++ }))
		f := says("…", provider.StopPaused)
		f.Meta = d.meta("")
		f.Message.Role = provider.RoleAssistant
		d.apply(f)
	}
	last := withMeta(&machine.StepStarted{Final: machine.LimitStepsPerPhase}, func(m *machine.Meta) {
		*m = d.meta("")
		m.Step++
	})
	d.apply(last)
	refuses(t, d.m, withMeta(&machine.StepStarted{}, func(m *machine.Meta) { *m = d.meta("") }),
		"the last call, made again as one of many")
	d.apply(withMeta(last, func(m *machine.Meta) { *m = d.meta("") }))
	d.apply(&machine.PhaseChanged{Meta: d.meta(""), To: "next"})
	f := says("here I stand", provider.StopDone)
	f.Meta, f.Message.Role = d.meta(""), provider.RoleAssistant
	d.apply(f)
	d.apply(&machine.Steered{Meta: d.meta(""), Message: provider.User("go on")})
	refuses(t, d.m, withMeta(&machine.StepStarted{}, func(m *machine.Meta) { *m = d.meta(""); m.Step++ }),
		"a call after the last")
	le := d.limit()
	require.Equal(t, machine.LimitStepsPerPhase, le.Limit)
	require.GreaterOrEqual(t, le.Have, int64(0))
}

func TestTokensAndMoneyEndARunOnceTheyAreUsedUp(t *testing.T) {
	for _, c := range []struct {
		each, limit int64
		calls       int // model calls until the limit; 0: it isn't reached
	}{{10, 9, 1}, {10, 10, 1}, {10, 11, 2}, {10, 30, 3}, {10, 31, 4}, {10, 49, 5}, {10, 50, 5}, {10, 51, 0}, {0, 1, 0},
		{10, -1, 0}} {
		t.Run(fmt.Sprintf("%d of %d", c.each, c.limit), func(t *testing.T) {
			reply := func(tokens, money int64) func(step int) *machine.Replied {
				return func(step int) *machine.Replied {
					f := fresh(step)
					if step == 6 {
						f = says("done", provider.StopDone)
					}
					f.Usage, f.Cost, f.Priced = provider.Usage{Input: tokens - tokens/2, Output: tokens / 2},
						provider.Money(money), true
					return f
				}
			}
			for limit, d := range map[string]*drill{
				machine.LimitTokens: newDrill(t, machine.Limits{Tokens: c.limit}.WithDefaults(), reply(c.each, 0)),
				machine.LimitCost: newDrill(t, machine.Limits{Cost: provider.Money(c.limit)}.WithDefaults(),
					reply(0, c.each)),
			} {
				if c.calls == 0 {
					require.Equal(t, machine.Completed, d.end().Status)
					require.Equal(t, 6, d.calls)
					continue
				}
				require.Equal(t, &machine.LimitError{Limit: limit, Max: c.limit, Have: int64(c.calls) * c.each},
					d.limit())
				require.Equal(t, c.calls, d.calls)
				require.Equal(t, c.calls, d.tools, "the calls of the reply that used it up still run")
			}
		})
	}
}

func TestAnAnswerThatUsesUpTheTokensIsStillAnAnswer(t *testing.T) {
	d := newDrill(t, machine.Limits{Tokens: 10}.WithDefaults(), func(int) *machine.Replied {
		f := says("done", provider.StopDone)
		f.Usage.Output = 1000
		return f
	})
	require.Equal(t, machine.Completed, d.end().Status)
}

func TestCallsWithoutAPriceAreReported(t *testing.T) {
	d := newDrill(t, machine.DefaultLimits(), func(step int) *machine.Replied {
		f := says("done", provider.StopDone)
		f.Usage.Output = 1
		return f
	})
	d.end()
	require.True(t, d.m.State().Run.Unpriced)
	d = newDrill(t, machine.DefaultLimits(), func(step int) *machine.Replied {
		return says("from a hook, for nothing", provider.StopDone)
	})
	d.end()
	require.False(t, d.m.State().Run.Unpriced)
}

func TestALimitErrorNamesTheFieldAndBothFigures(t *testing.T) {
	for want, err := range map[string]*machine.LimitError{
		"agent: Limits.Steps is reached: 12 of 12": {Limit: machine.LimitSteps, Max: 12,
			Have: 12},
		"agent: Limits.Cost is reached: $1.500000 of $1.000000": {Limit: machine.LimitCost,
			Max: int64(provider.USD), Have: int64(provider.USD * 3 / 2)},
		"agent: Limits.Duration is reached: 31m0s of 30m0s": {Limit: machine.LimitDuration,
			Max: int64(30 * time.Minute), Have: int64(31 * time.Minute)},
		"agent: Limits.PromptBytes is reached: 5 bytes of 4 bytes": {Limit: machine.LimitPromptBytes, Max: 4,
			Have: 5},
		"agent: Limits.Repeats is reached: 5 of 5; the model repeats look": {Limit: machine.LimitRepeats, Max: 5,
			Have: 5, Note: "the model repeats look"},
	} {
		require.EqualError(t, err, want)
		_, ok := reflect.TypeFor[machine.Limits]().FieldByName(err.Limit)
		require.True(t, ok, "there is such a field")
	}
}

func TestLimitsAreFilledInFromOthersAndFromTheDefaults(t *testing.T) {
	l := machine.Limits{Steps: 3, Tokens: -1}.Or(machine.Limits{Steps: 9, Repeats: 2, AskAfterCorrections: true,
		RequirePrices: true}).WithDefaults()
	want := machine.DefaultLimits()
	want.Steps, want.Tokens, want.Repeats, want.AskAfterCorrections, want.RequirePrices = 3, -1, 2, true, true
	require.Equal(t, want, l)
	v := reflect.ValueOf(machine.DefaultLimits())
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "AskAfterCorrections" && name != "RequirePrices" &&
			name != "AllowUnknownPrices" {
			require.NotZero(t, v.Field(i).Interface(), name)
		}
	}
}
