package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// This file tries every kind of call that a model can make with everything that a hook can do.
// Unless -every is 1, it tries some of them.

// A callKind is a call that a model makes, and what becomes of it.
type callKind struct {
	replies []providertest.Step // that call tools; after them the model says something
	child   []providertest.Step // the same of the subagent
	most    int                 // how often the tool of one call may run; 0: once
	crash   bool                // the process dies before the first result is stored
	doubt   agent.InDoubt
	change  func(cfg *agent.Config) // what the process that goes on has otherwise: after the crash, or the pause
	decide  func(id string) agent.Decision
	cancel  bool // the run is canceled while the tool runs
	memory  *agent.Memory
}

func calling(names ...string) providertest.Step {
	specs := make([]providertest.CallSpec, len(names))
	for i, name := range names {
		specs[i] = providertest.CallSpec{Tool: name, Input: Number{1}}
	}
	return providertest.Calls(specs...)
}

func replies(steps ...providertest.Step) []providertest.Step { return steps }

func withoutTools(cfg *agent.Config) { cfg.Tools = nil }

var callKinds = map[string]callKind{
	"a tool":                        {replies: replies(calling("work"))},
	"an unknown tool":               {replies: replies(calling("nope"))},
	"a name that no tool can have":  {replies: replies(calling("../no pe\n"))},
	"unknown and known ones":        {replies: replies(calling("nope", "work", "look", "nope", "look"))},
	"an input that doesn't fit":     {replies: replies(providertest.Call("work", `{"n":"x","m":1}`))},
	"an input that is no JSON":      {replies: replies(providertest.Call("work", `{"n":`))},
	"no input of an unknown tool":   {replies: replies(providertest.Call("nope", nil))},
	"the same call many times":      {replies: slices.Repeat(replies(calling("work", "work")), 4)},
	"more calls than may be made":   {replies: replies(calling("work", "work", "work", "nope", "work"))},
	"one that fails":                {replies: replies(calling("fails"), calling("fails"))},
	"one that panics":               {replies: replies(calling("panics", "work"))},
	"a denied one":                  {replies: replies(calling("denied", "work"))},
	"one that isn't loaded":         {replies: replies(calling("lazy"))},
	"one that is approved":          {replies: replies(calling("risky", "nope"))},
	"one that is rejected":          {replies: replies(calling("risky")), decide: reject},
	"one that is edited":            {replies: replies(calling("risky")), decide: edit},
	"one that is answered":          {replies: replies(calling("risky")), decide: answerText},
	"one that expires":              {replies: replies(calling("risky")), decide: late},
	"approved, and gone":            {replies: replies(calling("risky", "risky")), change: withoutTools},
	"rejected, and gone":            {replies: replies(calling("risky")), change: withoutTools, decide: reject},
	"edited, and gone":              {replies: replies(calling("risky")), change: withoutTools, decide: edit},
	"one that asks":                 {replies: replies(calling("asks")), decide: answerText},
	"one that asks, and runs again": {replies: replies(calling("asks.again")), decide: answerText, most: 2},
	"one that asks, and is gone": {replies: replies(calling("asks.again")), decide: answerText,
		change: withoutTools},
	"gone from its source":         {replies: replies(calling("lose"), calling("lost", "work"), calling("lost"))},
	"gone while it is asked about": {replies: replies(calling("lost.risky", "lose"), calling("lost.risky"))},
	"in doubt, and run again":      {replies: replies(calling("work")), crash: true, most: 2},
	"in doubt, and rejected": {replies: replies(calling("work", "look")),
		crash: true, decide: reject, most: 2},
	"in doubt, and told": {replies: replies(calling("work")), crash: true, doubt: agent.TellInDoubt},
	"in doubt, and gone": {replies: replies(calling("work")), crash: true, change: withoutTools},
	"told in doubt, and gone": {replies: replies(calling("work")), crash: true, doubt: agent.TellInDoubt,
		change: withoutTools},
	"repeatable, and gone": {replies: replies(calling("look")), crash: true, change: withoutTools},
	"canceled":             {replies: replies(calling("slow", "nope")), cancel: true},
	"more than fits": {replies: slices.Repeat(replies(calling("long")), 5),
		memory: &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 3_000, Reserve: 300},
			Steps: []memory.Step{{Strategy: memory.Slide{}}}}}},
	"a subagent": {replies: replies(ordering("child", "nope")),
		child: replies(calling("work"))},
	"an unknown one of a subagent": {replies: replies(ordering("child")),
		child: replies(calling("nope", "nope"))},
	"an invalid one of a subagent": {replies: replies(ordering("child")),
		child: replies(providertest.Call("work", "x"))},
	"a subagent's that is approved": {replies: replies(ordering("child")), child: replies(calling("risky"))},
	"a subagent's that is rejected": {replies: replies(ordering("child")),
		child: replies(calling("risky")), decide: reject},
	"a subagent's in doubt": {replies: replies(ordering("child")),
		child: replies(calling("work")), crash: true, most: 2},
	"a subagent that asks, and is gone": {replies: replies(ordering("child")),
		child: replies(calling("risky")), change: withoutTools},
}

func ordering(names ...string) providertest.Step {
	specs := make([]providertest.CallSpec, len(names))
	for i, name := range names {
		specs[i] = providertest.CallSpec{Tool: name, Input: agent.Task{Task: "it"}}
	}
	return providertest.Calls(specs...)
}

func reject(id string) agent.Decision     { return agent.Reject(id, "no") }
func edit(id string) agent.Decision       { return agent.Edit(id, Number{5}) }
func answerText(id string) agent.Decision { return agent.Answer(id, "yes") }

// late is a decision that comes after the pause has expired.
func late(id string) agent.Decision {
	time.Sleep(2 * time.Hour)
	return agent.Approve(id)
}

// A hookPoint is a field of Hooks: it returns hooks of which that one is f, and changed changes
// what it may.
type hookPoint struct {
	hooks  func(f func(ctx context.Context, changed any) error) agent.Hooks
	change func(v any)
}

type contextFunc = func(ctx context.Context, changed any) error

var hookPoints = map[string]hookPoint{
	"BeforeInput": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{BeforeInput: func(ctx context.Context, t *agent.IncomingText) error { return f(ctx, t) }}
	}, func(v any) { v.(*agent.IncomingText).Text = "\xff}" }},
	"Around": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
			if f(ctx, s) != nil {
				return nil, nil
			}
			return ctx, func(error) { _ = f(ctx, s) }
		}}
	}, func(v any) { *v.(*agent.Span) = agent.Span{} }},
	"BeforeStep": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{BeforeStep: func(ctx context.Context, s *agent.Step) error { return f(ctx, s) }}
	}, func(v any) {
		s := v.(*agent.Step)
		s.Tools, s.ToolChoice = s.Tools[:len(s.Tools)/2], provider.ToolChoice{Mode: provider.ChooseTool, Tool: "nope"}
		s.Messages = append(s.Messages, provider.Message{Role: provider.RoleTool})
	}},
	"AfterStep": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{AfterStep: func(ctx context.Context, s *agent.Step, _ *provider.Response) error {
			return f(ctx, s)
		}}
	}, func(v any) { *v.(*agent.Step) = agent.Step{} }},
	"BeforeTool": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{BeforeTool: func(ctx context.Context, c *agent.ToolCall) error { return f(ctx, c) }}
	}, func(v any) {
		c := v.(*agent.ToolCall)
		c.Name, c.ID, c.Spec, c.Input = "look", "", nil, json.RawMessage(`{"n":7}`)
	}},
	"AfterTool": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			return f(ctx, r)
		}}
	}, func(v any) {
		*v.(*agent.ToolResult) = agent.ToolResult{Status: "what?", Data: json.RawMessage("{"), Cut: -1, Notes: 9,
			ToolResult: provider.ToolResult{CallID: "x", Name: "y", Parts: make([]provider.Part, 2)}}
	}},
	"AfterDecision": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{AfterDecision: func(ctx context.Context, c *agent.ToolCall, _ agent.Pause,
			_ agent.Decision) error {
			return f(ctx, c)
		}}
	}, func(v any) { *v.(*agent.ToolCall) = agent.ToolCall{} }},
	"BeforeCompaction": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{BeforeCompaction: func(ctx context.Context, c *agent.Compaction) error { return f(ctx, c) }}
	}, func(v any) { *v.(*agent.Compaction) = agent.Compaction{} }},
	"AfterCompaction": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{AfterCompaction: func(ctx context.Context, c *agent.Compaction) error { return f(ctx, c) }}
	}, func(v any) { *v.(*agent.Compaction) = agent.Compaction{} }},
	"BeforeFinish": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{BeforeFinish: func(ctx context.Context, r *agent.Result) error { return f(ctx, r) }}
	}, func(v any) { *v.(*agent.Result) = agent.Result{} }},
	"AfterRun": {func(f contextFunc) agent.Hooks {
		return agent.Hooks{AfterRun: func(ctx context.Context, r *agent.Result) error { return f(ctx, r) }}
	}, func(v any) { v.(*agent.Result).Messages = nil }},
}

// deeds are what a hook does. Those that change something are in the table of hookPoints.
var deeds = map[string]func(ctx context.Context) error{
	"nothing":    func(context.Context) error { return nil },
	"an error":   func(context.Context) error { return errors.New("the scanner is away") },
	"a panic":    func(context.Context) error { panic("a bug") },
	"it hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	"it denies":  func(context.Context) error { return agent.Deny("no") },
	"it aborts":  func(context.Context) error { return agent.Abort(errors.New("enough")) },
	"sends back": func(context.Context) error { return agent.SendBack("more") },
	"it warns":   func(context.Context) error { return agent.Warn("careful") },
	"it changes": nil,
}

// A callRig is one run of such a call.
type callRig struct {
	kind  callKind
	cfg   agent.Config
	child agent.Config
	stop  context.CancelFunc
	lost  *catalog

	mu  sync.Mutex
	ran map[string]int // by call
}

func (r *callRig) tool(name string, spec tools.Spec, then func(ctx context.Context) (string, error)) tools.Tool {
	spec.Name = name
	return tools.New(spec, func(ctx context.Context, _ Number) (string, error) {
		c, _ := tools.CallOf(ctx)
		r.mu.Lock()
		r.ran[c.ID]++
		r.mu.Unlock()
		if then != nil {
			return then(ctx)
		}
		return "done", nil
	})
}

// playing answers with the replies, one after the other, and then with a text.
func playing(steps []providertest.Step) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		n := 0
		for _, m := range req.Messages {
			if len(m.Calls()) > 0 {
				n++
			}
		}
		if n < len(steps) {
			return steps[n].Response(), nil
		}
		return say("Done.").Response(), nil
	})
}

func newCallRig(kind callKind, hooks []agent.Hooks) *callRig {
	r := &callRig{kind: kind, ran: make(map[string]int)}
	fail := func(context.Context) (string, error) { return "", errors.New("it failed") }
	risky := r.tool("risky", tools.Spec{Risk: tools.High, Expires: time.Hour}, nil)
	work := r.tool("work", tools.Spec{}, nil)
	lost := []tools.Tool{r.tool("lost", tools.Spec{}, nil), r.tool("lost.risky", tools.Spec{Risk: tools.High}, nil)}
	r.lost = newCatalog("source", lost...)
	limits := agent.Limits{Steps: 8, ReplyCalls: 4, Duration: time.Minute}
	deny := func(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
		if d.Name() == "denied" {
			return tools.Verdict{Effect: tools.Deny, Reason: "never"}
		}
		return tools.Verdict{}
	}
	r.child = agent.Config{Name: "child", Provider: playing(kind.child), Tools: []tools.Tool{work, risky}, Hooks: hooks,
		Limits: limits}
	r.cfg = agent.Config{Name: "parent", Provider: playing(kind.replies), Journal: &journal.MapStore{}, Hooks: hooks,
		Memory: kind.memory, Limits: limits, InDoubt: kind.doubt, Policies: []tools.Policy{deny},
		Sources: []tools.Source{r.lost},
		Tools: []tools.Tool{work, risky,
			r.tool("look", tools.Spec{ReadOnly: true}, nil), r.tool("denied", tools.Spec{}, nil),
			tools.Lazy(r.tool("lazy", tools.Spec{}, nil), "load it first"),
			r.tool("fails", tools.Spec{}, fail),
			r.tool("panics", tools.Spec{}, func(context.Context) (string, error) { panic("a bug") }),
			r.tool("long", tools.Spec{}, func(context.Context) (string, error) {
				return strings.Repeat("one more thing. ", 200), nil
			}),
			r.tool("slow", tools.Spec{}, func(ctx context.Context) (string, error) {
				r.stop()
				<-ctx.Done()
				return "", ctx.Err()
			}),
			r.tool("asks", tools.Spec{}, func(context.Context) (string, error) {
				return "", tools.Suspend{Prompt: "Well?"}
			}),
			r.tool("asks.again", tools.Spec{}, func(ctx context.Context) (string, error) {
				if _, again := tools.Resumed(ctx); again {
					return "so be it", nil
				}
				return "", tools.Suspend{Prompt: "Well?", Again: true}
			}),
			r.tool("lose", tools.Spec{}, func(ctx context.Context) (string, error) {
				r.lost.set(nil)
				return "lost", agent.LoadTools(ctx)
			}),
		}}
	return r
}

// agent returns an agent of a configuration, with its subagent.
func (r *callRig) agent(t *testing.T, cfg agent.Config) *agent.Agent {
	child := r.child
	if len(cfg.Hooks) == 0 {
		child.Hooks = nil
	}
	if len(cfg.Tools) > 0 {
		cfg.Tools = append(slices.Clone(cfg.Tools),
			agent.AsTool(newAgent(t, child), tools.Spec{Description: "does it"}))
	}
	return newAgent(t, cfg)
}

// drive drives a session until it has ended, or can't go on, with a function that drives it once.
func (r *callRig) drive(t *testing.T, a *agent.Agent, once driveOnce) (res *agent.Result, err error) {
	var w agent.Work = agent.Input{Session: "s", Prompt: "go", User: "ann"}
	if r.kind.crash {
		w = agent.Resumption{Session: "s", AcceptChanges: true}
	}
	for range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r.stop = func() {
			if r.kind.cancel {
				cancel()
			}
		}
		res, err = once(ctx, a, w)
		cancel()
		if res == nil || res.Status != agent.Paused {
			return res, err
		}
		if r.kind.change != nil {
			cfg := r.cfg
			r.kind.change(&cfg)
			a = r.agent(t, cfg)
		}
		next := agent.Resumption{Session: "s", AcceptChanges: true}
		for _, p := range res.Pending {
			d := agent.Approve(p.ID)
			if r.kind.decide != nil {
				d = r.kind.decide(p.ID)
			}
			next.Decisions = append(next.Decisions, d)
		}
		w = next
	}
	return res, err
}

// crash makes what a process leaves that dies before the first result is stored.
func (r *callRig) crash(t *testing.T) {
	cfg := r.cfg
	cfg.Hooks = nil
	store := cfg.Journal
	runInput(t, r.agent(t, cfg), agent.Input{Session: "s", Prompt: "go"})
	left := &journal.MapStore{}
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		cutSession(t, store, left, h.Session, "tool_finished")
	}
	r.cfg.Journal = left
	if r.kind.change != nil {
		r.kind.change(&r.cfg)
	}
}

// requireTyped fails the test unless a run ended with a Result and an error that says why, or
// wasn't begun for a reason that a caller can tell.
func requireTyped(t *testing.T, res *agent.Result, err error) {
	t.Helper()
	if res != nil && res.Status == agent.Completed {
		require.NoError(t, res.Err())
		return
	}
	require.Error(t, err)
	typed := errorsAs(err, new(*agent.StopError)) || errorsAs(err, new(*agent.HookError)) ||
		errorsAs(err, new(*agent.AbortError)) || errorsAs(err, new(*agent.SessionError)) ||
		errorsAs(err, new(*agent.DecisionError)) || errorsAs(err, new(*agent.PausedError)) ||
		errorsAs(err, new(*agent.ChangedError)) || errorsAs(err, new(*agent.ArgError)) ||
		errorsAs(err, new(*provider.Error)) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	require.True(t, typed, "%T: %v", err, err)
}

// requireHarmless fails the test if a call has two results, or none though its run has ended, or
// if its tool ran too often. It ends the run first, as an agent without hooks can.
func (r *callRig) requireHarmless(t *testing.T) {
	t.Helper()
	cfg := r.cfg
	cfg.Hooks, cfg.Provider = nil, playing(nil)
	a := r.agent(t, cfg)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "again", Supersede: true})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	for h, err := range cfg.Journal.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		requireSound(t, h.Session, facts(t, a, h.Session))
	}
	for id, n := range r.ran {
		require.LessOrEqual(t, n, max(r.kind.most, 1), "call %s ran too often", id)
	}
}

// A driveOnce drives a run to its end or its next pause.
type driveOnce = func(ctx context.Context, a *agent.Agent, w agent.Work) (*agent.Result, error)

func runOnce(ctx context.Context, a *agent.Agent, w agent.Work) (*agent.Result, error) {
	return a.Run(ctx, w)
}

// inHub drives a run as a hub does, on the hub's own goroutine.
func inHub(ctx context.Context, a *agent.Agent, w agent.Work) (*agent.Result, error) {
	h, err := live.New(live.Config{Agent: a})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	s, err := h.Start(ctx, w)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.Done:
	case <-ctx.Done():
		_ = h.Cancel(context.WithoutCancel(ctx), w.SessionName())
		<-s.Done
	}
	res, err := a.Session(w.SessionName()).Result(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	return res, res.Err()
}

func TestNoCallAndNoHookCrashesAProcess(t *testing.T) {
	tried, drivers := 0, map[string]driveOnce{"Run": runOnce, "a hub": inHub}
	stride := max(*every**every/4, 1)
	n := rand.IntN(stride)
	for of, kind := range callKinds {
		t.Run(of, func(t *testing.T) {
			for point, p := range hookPoints {
				for what, deed := range deeds {
					for _, from := range []int{1, 2} {
						for by, once := range drivers {
							if n++; n%stride != 0 {
								continue
							}
							tried++
							name := fmt.Sprintf("%s: %s from time %d on, by %s", point, what, from, by)
							synctest.Test(t, func(t *testing.T) {
								defer func() {
									if r := recover(); r != nil {
										t.Errorf("a panic has left: %v\n%s", r, debug.Stack())
									}
									if t.Failed() {
										t.Log(name)
									}
								}()
								misbehaves(t, kind, p, deed, from, once)
							})
						}
					}
				}
			}
		})
	}
	t.Logf("%d of %d combinations: %d kinds of calls, %d points, %d deeds, at once or from the second time on, "+
		"with Run and in a hub", tried, len(callKinds)*len(hookPoints)*len(deeds)*2*len(drivers), len(callKinds),
		len(hookPoints), len(deeds))
}

// A hook point that no call reaches would be tried with nothing.
func TestEachHookPointIsReachedByACall(t *testing.T) {
	for point, p := range hookPoints {
		reached := false
		for _, of := range slices.Sorted(maps.Keys(callKinds)) {
			kind := callKinds[of]
			if reached || kind.crash {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				r := newCallRig(kind, []agent.Hooks{p.hooks(func(context.Context, any) error {
					reached = true
					return nil
				})})
				_, _ = r.drive(t, r.agent(t, r.cfg), runOnce)
			})
		}
		require.True(t, reached, point)
	}
}

// misbehaves drives a run with a call of a kind to its end, with a hook that does something from
// the time on that it is called so often.
func misbehaves(t *testing.T, kind callKind, p hookPoint, deed func(context.Context) error, from int, once driveOnce) {
	var times atomic.Int32
	r := newCallRig(kind, []agent.Hooks{p.hooks(func(ctx context.Context, v any) error {
		switch n := times.Add(1); {
		case int(n) < from:
			return nil
		case deed == nil:
			p.change(v)
			return nil
		}
		return deed(ctx)
	})})
	if kind.crash {
		r.crash(t)
	}
	res, err := r.drive(t, r.agent(t, r.cfg), once)
	requireTyped(t, res, err)
	r.requireHarmless(t)
}
