package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// City is the input of the tools.
type City struct {
	Name string `json:"city"`
}

// priced is a model with prices: $1 for a million tokens of input, $2 for one of output.
type priced struct{ provider.Provider }

func (priced) Info() provider.ModelInfo {
	return provider.ModelInfo{ID: "priced", Prices: &provider.Prices{Input: provider.USD, Output: 2 * provider.USD}}
}

// agentOf returns a newAgent whose models follow a script.
func agentOf(store journal.Store, steps ...providertest.Step) func() (*agent.Agent, error) {
	return func() (*agent.Agent, error) { return agentFor(priced{providertest.Script(steps...)}, store) }
}

// forecast is the tool weather.
var forecast = tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city.", ReadOnly: true},
	func(_ context.Context, in City) (string, error) { return "3 °C in " + in.Name, nil })

func agentFor(p provider.Provider, store journal.Store) (*agent.Agent, error) {
	return agent.New(agent.Config{Provider: p, Journal: store, NoGuard: true, Tools: []tools.Tool{
		forecast,
		tools.New(tools.Spec{Name: "alarm", Description: "Wakes the town.", Risk: tools.High},
			func(context.Context, City) (string, error) { return "woken", nil }),
	}})
}

// answering returns a model that answers as fn says.
func answering(fn func(*provider.Request) *provider.Response) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return fn(req), nil
	})
}

var (
	oslo   = providertest.Call("weather", City{"Oslo"})
	answer = providertest.Say("It is 3 °C.")
)

func weather(score ...Scorer) Case {
	return Case{Name: "weather", Input: agent.Input{Prompt: "How cold is it in Oslo?"}, Score: score}
}

func run(t *testing.T, newAgent func() (*agent.Agent, error), cfg Config) *Report {
	t.Helper()
	r, err := Run(t.Context(), newAgent, cfg)
	require.NoError(t, err)
	return r
}

// one runs one trial of a case.
func one(t *testing.T, newAgent func() (*agent.Agent, error), c Case) Trial {
	t.Helper()
	return run(t, newAgent, Config{Cases: []Case{c}, Trials: 1}).Trials[0]
}

func TestATrialHasWhatTheAgentDid(t *testing.T) {
	trial := one(t, agentOf(nil, oslo, answer), weather(Called("weather")))
	require.Equal(t, agent.Completed, trial.Status)
	require.Equal(t, "It is 3 °C.", trial.Answer)
	require.Equal(t, 2, trial.Steps)
	require.Equal(t, "weather", trial.Calls[0].Name)
	require.JSONEq(t, `{"city":"Oslo"}`, string(trial.Calls[0].Input))
	require.Equal(t, map[string]tools.Status{trial.Calls[0].ID: tools.OK}, trial.Statuses)
	require.Len(t, trial.Messages, 4)
	require.Positive(t, trial.Cost)
	require.False(t, trial.Unpriced)
	require.Nil(t, trial.Agent, "it would keep all agents in memory")
	require.Equal(t, []Score{{Name: "ends completed", Pass: true}, {Name: "called weather", Pass: true}}, trial.Scores)

	lost := providertest.Unfit(providertest.Call("forecast", City{"Oslo"}))
	trial = one(t, agentOf(nil, lost, answer), weather(Called("forecast")))
	require.Equal(t, Score{Name: "called forecast", Why: `the calls were []; calls of tools that the agent doesn't ` +
		`have aren't counted: ["forecast"]`}, trial.Scores[1])
}

// Whatever happens to a trial is reported as what it is.
func TestATrialIsReportedAsWhatItIs(t *testing.T) {
	c := weather()
	c.Input.Limits = &agent.Limits{Steps: 1}
	trial := one(t, agentOf(nil, oslo, answer), c)
	require.Equal(t, agent.Stopped, trial.Status, "at a limit")
	require.Contains(t, trial.Scores[0].Why, "it is stopped: ")

	trial = one(t, agentOf(nil, providertest.Call("alarm", City{"Oslo"})), weather())
	require.Equal(t, agent.Paused, trial.Status)
	require.False(t, trial.Scores[0].Pass)
	require.Equal(t, "alarm", trial.Pending[0].Call.Name)

	trial = one(t, func() (*agent.Agent, error) { return nil, errors.New("no key") }, weather())
	require.Equal(t, "the agent couldn't be made: no key", trial.Error)
	require.Empty(t, trial.Scores)

	trial = one(t, func() (*agent.Agent, error) { panic("a bug") }, weather())
	require.Equal(t, "panic: a bug", trial.Error)
	trial = one(t, func() (*agent.Agent, error) { return nil, nil }, weather())
	require.Contains(t, trial.Error, "this Agent is nil")

	trial = one(t, func() (*agent.Agent, error) {
		new(testing.T).FailNow() // as require does
		return nil, nil
	}, weather())
	require.Contains(t, trial.Error, "ended its goroutine")

	trial = one(t, agentOf(nil, providertest.Fail(fault.Permanent)), weather())
	require.Equal(t, agent.Failed, trial.Status)
	require.NotEmpty(t, trial.Error, "it says nothing about the agent")
	require.Empty(t, trial.Scores)

	c = weather()
	c.Input.Mode = "unknown"
	trial = one(t, agentOf(nil, oslo, answer), c)
	require.Contains(t, trial.Error, "Mode")
}

func TestAModelThatHangsIsStoppedAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trial := one(t, agentOf(nil, oslo, providertest.Hang()), weather(Called("weather")))
		require.Equal(t, agent.Stopped, trial.Status)
		require.Contains(t, trial.Reason, "the trial took longer than Config.Timeout, 5m0s")
		require.Equal(t, 5*time.Minute, trial.Took)
		require.False(t, trial.Scores[0].Pass)
		require.True(t, trial.Scores[1].Pass)
	})
}

func TestACaseMayExpectAQuestionOrAnswerIt(t *testing.T) {
	newAgent := agentOf(nil, providertest.Call("alarm", City{"Oslo"}), providertest.Say("As you wish."))
	c := weather(Called("alarm"))
	c.Ends = agent.Paused
	require.True(t, one(t, newAgent, c).Scores[0].Pass)

	c.Ends, c.Decide = "", func(p agent.Pause) agent.Decision { return agent.Reject(p.ID, "they sleep") }
	trial := one(t, newAgent, c)
	require.Equal(t, agent.Completed, trial.Status, trial.Error)
	require.Len(t, trial.Calls, 1)
	require.Contains(t, trial.Messages[2].Parts[0].Result.Text(), "they sleep")

	c.Decide = func(agent.Pause) agent.Decision { panic("undecided") }
	require.Equal(t, "panic: undecided", one(t, newAgent, c).Error)
	c.Decide = func(agent.Pause) agent.Decision { return agent.Approve("another") }
	require.NotEmpty(t, one(t, newAgent, c).Error)
}

func TestTrialsRunInParallelAndCasesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var began []string
		running, most := 0, 0
		model := answering(func(req *provider.Request) *provider.Response {
			mu.Lock()
			began = append(began, req.LastUserText())
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			require.Equal(t, ratelimit.Background, req.Priority)
			require.False(t, req.Interactive)
			return answer.Response()
		})
		a, b := weather(), weather()
		a.Name, a.Input.Prompt, a.Input.Interactive = "a", "a", true
		b.Name, b.Input.Prompt = "b", "b"
		start := time.Now()
		r := run(t, func() (*agent.Agent, error) { return agentFor(model, nil) },
			Config{Cases: []Case{a, b}, Trials: 4, Parallel: 2})
		require.Equal(t, 4*time.Second, time.Since(start))
		require.Equal(t, 2, most)
		for i, c := range began {
			require.Equal(t, "ab"[i/2*2%2:][:1] == "a", i/2*2%2 == 0, c)
		}
		require.ElementsMatch(t, []string{"a", "b"}, began[:2], "the first trials of all cases come first")
		for i, trial := range r.Trials {
			require.Equal(t, []any{"ab"[i/4 : i/4+1], i%4 + 1}, []any{trial.Case, trial.N})
		}
		require.Equal(t, Rate{8, 8}, r.Rate("", ""))
	})
}

func TestABudgetEndsTheEvaluationInTheMiddle(t *testing.T) {
	usage := providertest.WithUsage(provider.Usage{Input: 90, Output: 10}, oslo)
	last := providertest.WithUsage(provider.Usage{Input: 90, Output: 10}, answer)
	limits := budget.New(budget.Config{Global: budget.Limit{Tokens: 450}})
	r := run(t, agentOf(nil, usage, last), Config{Cases: []Case{weather(Called("weather"))}, Trials: 5, Parallel: 1,
		Budget: limits})
	require.Equal(t, Rate{2, 2}, r.Rate("weather", ""), "of 200 tokens each")
	for i, trial := range r.Trials {
		require.Equal(t, i >= 2, trial.NotRun != "", "trial %d", i+1)
		require.Empty(t, trial.Error)
		if trial.NotRun != "" {
			require.Contains(t, trial.NotRun, "budget")
			require.Empty(t, trial.Scores)
		}
	}
	require.Positive(t, r.Trials[2].Usage.Total(), "it was cut in the middle")
	spent := limits.Status(budget.ScopeGlobal, "").Spent.Tokens
	require.Equal(t, int64(500), spent, "at most one model call above the limit")
	require.Zero(t, r.Trials[4].Usage.Total())
}

func TestAnAgentsOwnBudgetIsNoFailureEither(t *testing.T) {
	limits := budget.New(budget.Config{Global: budget.Limit{Tokens: 10}})
	trial := one(t, func() (*agent.Agent, error) {
		g, err := guard.New(providertest.Script(answer), guard.Config{Budget: limits})
		require.NoError(t, err)
		return agent.New(agent.Config{Provider: g})
	}, weather())
	require.Contains(t, trial.NotRun, "budget")
}

// What a trial has used is held in no reservation, so nothing waits for it.
func TestATrialDoesNotWaitForABudgetThatItsGuardHasToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := budget.New(budget.Config{Global: budget.Limit{Tokens: 4000}})
		newAgent := func() (*agent.Agent, error) {
			used := provider.Usage{Input: 900, Output: 100}
			model := providertest.Script(providertest.WithUsage(used, oslo), providertest.WithUsage(used, answer))
			g, err := guard.New(model, guard.Config{Budget: limits})
			require.NoError(t, err)
			return agent.New(agent.Config{Provider: g, Tools: []tools.Tool{forecast},
				Params: agent.Params{MaxOutput: 1500}})
		}
		r := run(t, newAgent, Config{Cases: []Case{weather()}, Trials: 2, Parallel: 1, Budget: limits})
		require.Equal(t, Rate{1, 1}, r.Rate("", ""), "each call is booked twice")
		require.Contains(t, r.Trials[1].NotRun, "budget")
		require.Zero(t, r.Trials[1].Took)
	})
}

// The context ends at each event of the evaluation.
func TestTheEndOfTheContextLeavesTrialsUnrunAndNothingBehind(t *testing.T) {
	for at := range 14 {
		ctx, cancel := context.WithCancelCause(t.Context())
		events := new(atomic.Int64)
		event := func() {
			if events.Add(1) == int64(at) {
				cancel(errors.New("enough"))
			}
		}
		if at == 0 {
			cancel(errors.New("enough"))
		}
		newAgent := func() (*agent.Agent, error) {
			event()
			steps := []providertest.Step{oslo, answer}
			return agentFor(answering(func(req *provider.Request) *provider.Response {
				event()
				return steps[len(req.Messages)/2].Response()
			}), nil)
		}
		r, err := Run(ctx, newAgent, Config{Cases: []Case{weather(func(context.Context, *Trial) (Score, error) {
			event()
			return Score{Name: "own", Pass: true}, nil
		})}, Trials: 4, Parallel: 2})
		require.EqualError(t, err, "enough", "%d", at)
		require.Len(t, r.Trials, 4)
		unrun := 0
		for _, trial := range r.Trials {
			require.Empty(t, trial.Error)
			if trial.NotRun != "" {
				require.Equal(t, "enough", trial.NotRun)
				unrun++
				continue
			}
			require.Equal(t, agent.Completed, trial.Status)
		}
		require.Equal(t, Rate{4 - unrun, 4 - unrun}, r.Rate("", ""))
		if at == 0 {
			require.Equal(t, 4, unrun)
		}
		cancel(nil)
	}
}

func TestSessionsOfTrialsThatDidNotPassStayInTheJournal(t *testing.T) {
	store, err := sqlite.Open(t.TempDir()+"/runs.db", sqlite.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var n atomic.Int64
	newAgent := func() (*agent.Agent, error) {
		if n.Add(1)%2 == 0 {
			return agentOf(store, answer)()
		}
		return agentOf(store, oslo, answer)()
	}
	cfg := Config{Cases: []Case{weather(Called("weather"))}, Trials: 6} // several at once, in one store
	first, second := run(t, newAgent, cfg), run(t, newAgent, cfg)
	require.Equal(t, Rate{3, 6}, first.Rate("weather", ""))
	a, err := agentOf(store)()
	require.NoError(t, err)
	for _, trial := range append(first.Trials, second.Trials...) {
		facts, err := a.Session(trial.Session).Facts(t.Context())
		require.NoError(t, err)
		require.Equal(t, trial.Scores[1].Pass, len(facts) == 0, trial.Session)
	}
}

func TestAConfigThatCannotBeRunIsRefused(t *testing.T) {
	named := func(name string) Case { return Case{Name: name, Input: agent.Input{Prompt: "x"}} }
	session := named("a")
	session.Input.Session = "s"
	for _, cases := range [][]Case{nil, {named("")}, {named("a"), named("a")}, {named("a\nb")}, {named("\xff")},
		{session}, {named(strings.Repeat("x", 101))}} {
		r, err := Run(t.Context(), agentOf(nil), Config{Cases: cases})
		require.Nil(t, r)
		require.Equal(t, fault.Invalid, fault.Of(err), "%v", err)
	}
	_, err := Run(t.Context(), nil, Config{Cases: []Case{named("a")}})
	require.Error(t, err)
}

func TestABugInASessionBecomesACase(t *testing.T) {
	a, err := agentOf(nil, oslo, answer, providertest.Say("Twice as cold."))()
	require.NoError(t, err)
	for _, prompt := range []string{"How cold is it in Oslo?", "And tomorrow?"} {
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
		require.NoError(t, err)
	}
	var kept bytes.Buffer
	require.NoError(t, a.Session("s").Export(t.Context(), &kept))

	other, err := agentOf(nil)()
	require.NoError(t, err)
	require.NoError(t, other.Session("bug").Import(t.Context(), &kept))
	for step, want := range []struct {
		history int
		prompt  string
	}{{0, "How cold is it in Oslo?"}, {3, "Continue."}, {4, "And tomorrow?"}} {
		c, err := FromSession(t.Context(), other.Session("bug"), step+1)
		require.NoError(t, err)
		require.Len(t, c.Input.History, want.history)
		c.Name = "bug"
		asked := make(chan *provider.Request, 1)
		trial := one(t, func() (*agent.Agent, error) {
			return agentFor(answering(func(req *provider.Request) *provider.Response {
				asked <- req
				return providertest.Say("I can't know.").Response()
			}), nil)
		}, c)
		require.Equal(t, agent.Completed, trial.Status, trial.Error)
		req := <-asked
		require.Len(t, req.Messages, want.history+1)
		require.Equal(t, want.prompt, req.LastUserText())
		require.Empty(t, trial.Calls, "those of the history aren't the trial's")
	}
	for _, step := range []int{-1, 0, 4} {
		_, err := FromSession(t.Context(), other.Session("bug"), step)
		require.Equal(t, fault.Invalid, fault.Of(err), fmt.Sprint(err))
	}
}
