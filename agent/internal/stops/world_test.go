package stops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A world has the store that the processes share, and the effects of their tools. It stops the
// first process at one of its points: before and after each append, and before and after each
// effect.
type world struct {
	t     *testing.T
	store journal.Store

	mu     sync.Mutex // guards what follows
	paid   map[int]int
	undone map[int]int
	points int
	stopAt int // the point at which stop is called; 0: none
	stop   func()
	where  string // what the point was
	wrong  []string
}

func newWorld(t *testing.T, stopAt int) *world {
	return &world{t: t, store: &journal.MapStore{}, paid: make(map[int]int), undone: make(map[int]int), stopAt: stopAt}
}

// point is a point of the first process.
func (w *world) point(where string) {
	w.mu.Lock()
	w.points++
	stop := w.stop
	now := w.points == w.stopAt
	if now {
		w.where = where
	}
	w.mu.Unlock()
	if now {
		stop()
	}
}

// stopped reports whether the first process was stopped.
func (w *world) stopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.where != ""
}

// A process has a handle on the store. What a process that was killed does, counts no more.
type process struct {
	journal.Store
	w     *world
	first bool // it has points

	mu     sync.Mutex // guards what follows
	killed bool
	lost   func(session string) bool // which sessions it can't write to; nil: none
}

var (
	errKilled      = journal.Unusable("the process was killed")
	errUnreachable = errors.New("the store can't be reached")
)

func (w *world) process(first bool) *process {
	return &process{Store: w.store, w: w, first: first}
}

// kill ends the process as SIGKILL does.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
}

func (p *process) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.killed
}

// lose keeps the process from writing to some sessions for 10 s, and from renewing its leases of
// them, as if its network had failed. Another process may take them when the leases have ended.
func (p *process) lose(which func(session string) bool) {
	set := func(lost func(string) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lost = lost
	}
	set(which)
	<-time.After(10 * time.Second)
	set(nil)
}

// may returns why the process can't write to a session.
func (p *process) may(session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.killed:
		return errKilled
	case p.lost != nil && p.lost(session):
		return errUnreachable
	}
	return nil
}

func (p *process) Append(ctx context.Context, a journal.Append) error {
	if p.first {
		p.w.point("before an append to " + a.Session)
	}
	if err := p.may(a.Session); err != nil {
		return err
	}
	if err := p.Store.Append(ctx, a); err != nil {
		return err
	}
	if p.first {
		p.w.point("after an append to " + a.Session)
	}
	return nil
}

func (p *process) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if err := p.may(session); err != nil {
		return journal.Lease{}, err
	}
	return p.Store.Lease(ctx, session, owner, ttl)
}

func (p *process) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := p.may(l.Session); err != nil {
		return journal.Lease{}, err
	}
	return p.Store.Renew(ctx, l, ttl)
}

func (p *process) Release(ctx context.Context, l journal.Lease) error {
	if err := p.may(l.Session); err != nil {
		return err
	}
	return p.Store.Release(ctx, l)
}

func (p *process) Post(ctx context.Context, session string, it journal.Item) error {
	if !p.alive() {
		return errKilled
	}
	return p.Store.Post(ctx, session, it)
}

// An order is the input of each tool.
type order struct {
	N int `json:"n"`
}

// pay has an effect in the middle of a second. It respects its context before the effect alone.
func (p *process) pay(ctx context.Context, in order) (string, error) {
	p.at(fmt.Sprint("before effect ", in.N))
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-time.After(500 * time.Millisecond):
	}
	if !p.alive() {
		return "", errKilled
	}
	p.w.mu.Lock()
	p.w.paid[in.N]++
	p.w.mu.Unlock()
	p.at(fmt.Sprint("after effect ", in.N))
	<-time.After(500 * time.Millisecond)
	return "paid", nil
}

func (p *process) at(where string) {
	if p.first {
		p.w.point(where)
	}
}

// refund undoes pay, also if it isn't known what pay has done.
func (p *process) refund(_ context.Context, in order, _ string) error {
	p.at(fmt.Sprint("before undoing ", in.N))
	<-time.After(500 * time.Millisecond)
	if !p.alive() {
		return errKilled
	}
	p.w.mu.Lock()
	p.w.undone[in.N]++
	p.w.mu.Unlock()
	p.at(fmt.Sprint("after undoing ", in.N))
	<-time.After(500 * time.Millisecond)
	return nil
}

var errDeclined = fault.New(fault.Permanent, "the bank has declined the order for good")

// tools returns the tools of the process: none but mark may be repeated.
func (p *process) tools() []tools.Tool {
	paying := func(spec tools.Spec) tools.Tool {
		spec.UndoFailed = true
		return tools.Func[order, string]{Spec: spec, Run: p.pay, Undo: p.refund}
	}
	return []tools.Tool{
		paying(tools.Spec{Name: "pay", ParallelSafe: true}),
		paying(tools.Spec{Name: "approved", Risk: tools.High}),
		tools.New(tools.Spec{Name: "mark", Idempotent: true, ParallelSafe: true},
			func(context.Context, order) (string, error) {
				<-time.After(time.Second)
				return "marked", nil
			}),
		tools.New(tools.Spec{Name: "find", ReadOnly: true},
			func(_ context.Context, in order) (int, error) { return in.N, nil }),
		tools.New(tools.Spec{Name: "decline", ReadOnly: true},
			func(context.Context, order) (string, error) { return "", errDeclined }),
	}
}

// steps is a model that makes the calls of each step, and then ends. It knows the step by the
// conversation.
func steps(calls ...[]providertest.CallSpec) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		step := 0
		for i := range req.Messages {
			if req.Messages[i].Role == provider.RoleAssistant {
				step++
			}
		}
		if step < len(calls) {
			return providertest.Calls(calls[step]...).Response(), nil
		}
		return providertest.Say("All done.").Response(), nil
	})
}

func call(tool string, n int) providertest.CallSpec {
	return providertest.CallSpec{Tool: tool, Input: order{n}}
}

// agent returns an agent of the process. more are tools beside those that pay.
func (p *process) agent(name string, model provider.Provider, more ...tools.Tool) *agent.Agent {
	a, err := agent.New(agent.Config{Name: name, Provider: model, Journal: p, Lease: 2 * time.Second,
		Tools: append(p.tools(), more...)})
	if err != nil {
		panic(err)
	}
	return a
}

// decision is what a person decides: everything is approved. If it isn't known whether a call has
// happened, the person looks.
func (w *world) decision(p *agent.Pause, n int) agent.Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Kind == agent.PauseInDoubt && w.paid[n] > 0 {
		return agent.Answer(p.ID, "paid").By("ann")
	}
	return agent.Approve(p.ID).By("ann")
}

// fault notes what was wrong.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}
