package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/team"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var trees = flag.Uint64("trees", 2, "how many random trees TestATreeNeverSpendsMoreThanItsLimitAndWhatWasInProgress grows")

const (
	treeLimit = 2 * provider.USD
	treePrice = provider.Money(50_000) // of a model call
	treeBook  = provider.Money(20_000) // of a tool
)

var firstTree = flag.Uint64("tree", 0, "the seed of the first random tree")

// TestATreeNeverSpendsMoreThanItsLimitAndWhatWasInProgress: one input starts subagents, background
// work that is reported, plans, and runs by hand, which do the same, in two processes that die and
// are replaced.
//
// No model call begins once what its process can know has reached the limit: all that is in the
// journal, and what open tool calls of the same process have used. So what is stored after the
// limit was passed was in progress then: a model call, or a tool call that a model call in progress
// has made, each with what it has really cost.
func TestATreeNeverSpendsMoreThanItsLimitAndWhatWasInProgress(t *testing.T) {
	reached := 0
	for seed := *firstTree; seed < *firstTree+*trees; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &forest{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), store: &journal.MapStore{},
					called: make(map[string]time.Time), account: account{limit: treeLimit}}
				f.grow()
				spent, inProgress := f.spent(), f.inProgress()
				t.Log("spent", spent, "of it in progress at the limit", inProgress)
				require.Empty(t, f.problems)
				require.LessOrEqual(t, spent, treeLimit+inProgress)
				if spent >= treeLimit {
					reached++
				}
			})
		})
	}
	require.Positive(t, reached)
}

type forest struct {
	t     *testing.T
	store journal.Store

	mu       sync.Mutex
	rnd      *rand.Rand
	busy     int                  // model calls in progress
	called   map[string]time.Time // when the newest model call of a session's run began
	problems []string
	account
}

func (f *forest) intN(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rnd.IntN(n)
}

// mortal is the store as a process has it that may die.
type mortal struct {
	journal.Store
	f    *forest
	dead atomic.Bool
}

var errNoProcess = errors.New("the process is dead")

func (m *mortal) Append(ctx context.Context, a journal.Append) error {
	if m.dead.Load() {
		return errNoProcess
	}
	err := m.Store.Append(ctx, a)
	if err == nil {
		m.f.keep(m, a)
	}
	return err
}

func (m *mortal) Lease(ctx context.Context, s, owner string, ttl time.Duration) (journal.Lease, error) {
	if m.dead.Load() {
		return journal.Lease{}, errNoProcess
	}
	return m.Store.Lease(ctx, s, owner, ttl)
}

func (m *mortal) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if m.dead.Load() {
		return l, errNoProcess
	}
	return m.Store.Renew(ctx, l, ttl)
}

func (m *mortal) Release(ctx context.Context, l journal.Lease) error {
	if m.dead.Load() {
		return errNoProcess
	}
	return m.Store.Release(ctx, l)
}

func (m *mortal) Post(ctx context.Context, s string, it journal.Item) error {
	if m.dead.Load() {
		return errNoProcess
	}
	return m.Store.Post(ctx, s, it)
}

func (m *mortal) Heads(ctx context.Context, flt journal.Filter) iter.Seq2[journal.Head, error] {
	if m.dead.Load() {
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, errNoProcess) }
	}
	return m.Store.Heads(ctx, flt)
}

// dearModel is a model with a price that calls tools at random.
type dearModel struct{ provider.Provider }

func (dearModel) Info() provider.ModelInfo {
	return provider.ModelInfo{Prices: &provider.Prices{Output: 50 * provider.USD}}
}

func (d dearModel) Unwrap() provider.Provider { return d.Provider }

func (f *forest) model(p *mortal) provider.Provider {
	return dearModel{providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		if !f.begins(p, req.Labels.Session, req.Labels.Kind != "tool") {
			return nil, errNoProcess
		}
		defer f.ends()
		select {
		case <-time.After(time.Duration(1+f.intN(2_000_000_000)) * time.Nanosecond): // no two end at one instant
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.dead.Load() {
			return nil, errNoProcess
		}
		step := providertest.Say("Done.")
		if n := len(req.Tools); n > 0 && f.intN(8) > 0 {
			name := req.Tools[f.intN(n)].Name
			input := map[string]any{"task": "go on"}
			switch name {
			case "team.start":
				input["member"] = "m"
			case "pay", "ask", "plan", "run", "m":
			default:
				name = req.Tools[0].Name // the others read or stop work
			}
			step = providertest.Call(name, input)
		}
		return providertest.WithUsage(provider.Usage{Output: 1000}, step).Response(), nil
	})}
}

type task struct {
	Task string `json:"task"`
}

// tool is a tool that repeats nothing that has ended.
func tool(name string, do func(context.Context, *tools.Call) error) tools.Tool {
	return tools.New(tools.Spec{Name: name, Idempotent: true, NoBreaker: true, NoRetries: true},
		func(ctx context.Context, _ task) (string, error) {
			call, _ := tools.CallOf(ctx)
			return "done", do(ctx, call)
		})
}

// begin begins a process, and returns its end and the hub of the lead.
func (f *forest) begin() (die func(), lead *live.Hub) {
	store := &mortal{Store: f.store, f: f}
	limits := agent.Limits{Repeats: -1, Steps: 6, ToolFailures: -1, Failures: -1, Cost: -1}
	make := func(name string, list ...tools.Tool) *agent.Agent {
		a, err := agent.New(agent.Config{Name: name, Provider: f.model(store), Journal: store, Tools: list,
			Limits: limits, Lease: 5 * time.Second, NoGuard: true})
		require.NoError(f.t, err)
		return a
	}
	pay := tool("pay", func(ctx context.Context, call *tools.Call) error {
		err := agent.Book(ctx, provider.Usage{}, treeBook)
		if err == nil {
			f.used(store, call, f.calledAt(call.Session), treeBook)
		}
		return err
	})
	ask := tool("ask", func(ctx context.Context, call *tools.Call) error {
		for range 3 {
			began := time.Now()
			req := &provider.Request{Messages: []provider.Message{provider.User("x")}}
			if _, err := agent.Generate(ctx, req); err != nil {
				return err
			}
			f.used(store, call, began, treePrice)
		}
		return nil
	})
	leaf := make("leaf", pay, ask)
	run := tool("run", func(ctx context.Context, call *tools.Call) error {
		_, err := leaf.Run(ctx, agent.Input{Session: "by-hand/" + call.ID, Prompt: "go", Key: call.ID})
		return err
	})
	sub := agent.AsTool(make("sub", pay, ask, run), tools.Spec{Name: "m"})
	plans, err := plan.New(plan.Config{Agent: make("desk"), Lease: 5 * time.Second,
		Workers: map[string]*agent.Agent{"w": make("w", sub, pay, run)}})
	require.NoError(f.t, err)
	submit := tool("plan", func(ctx context.Context, call *tools.Call) error {
		_, err := plans.Start(ctx, "p-"+call.ID, &plan.Plan{Title: "x", Nodes: []plan.Node{
			{ID: "a", Worker: "w", Prompt: "go"}, {ID: "b", Worker: "w", Prompt: "go"}}})
		return err
	})
	hub := func(a *agent.Agent) *live.Hub {
		h, err := live.New(live.Config{Agent: a, Recover: time.Second, Drain: time.Second})
		require.NoError(f.t, err)
		return h
	}
	members := hub(make("member", sub, pay, ask, submit, run))
	background, err := team.New(team.Config{Rounds: -1,
		Members: map[string]team.Member{"m": {Hub: members, About: "x"}}})
	require.NoError(f.t, err)
	limits.Cost = treeLimit
	lead = hub(make("lead", append(background.Tools()[:2], sub, submit, run, ask)...))
	ctx, stop := context.WithCancel(f.t.Context())
	var group sync.WaitGroup
	group.Go(func() { plans.Serve(ctx) })
	group.Go(func() { _ = background.Run(ctx, lead) })
	return func() {
		store.dead.Store(true)
		stop()
		_, _ = lead.Close(), members.Close()
		group.Wait()
	}, lead
}

// grow has an input grow its tree in two processes, one of which dies now and then, until nothing
// goes on.
func (f *forest) grow() {
	one, lead := f.begin()
	two, _ := f.begin()
	_, err := lead.Start(f.t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(f.t, err)
	for range 4 {
		time.Sleep(time.Duration(1+f.intN(30)) * time.Second)
		one()
		one = two
		two, _ = f.begin()
	}
	time.Sleep(15 * time.Minute)
	one()
	two()
	require.Zero(f.t, f.busy)
}
