package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/tools"
)

// A process is an agent and its hub, with a view of the store of its own, until it dies.
type process struct {
	*world
	sim    *simulation
	number int
	name   string
	ctx    context.Context // of all that it does; ends when it dies
	cancel context.CancelCauseFunc
	died   chan struct{}
	agent  *agent.Agent
	hub    *live.Hub
	allow  *ratelimit.Allowance
	plans  *plan.Runner
	worker *work.Worker // nil: nothing is queued
	ending sync.Once

	plansEnded  chan struct{} // closed when plans aren't served any more
	stopWorker  func()
	workerEnded chan struct{} // closed when the worker has ended

	spans spans

	mu     sync.Mutex // guards what follows
	calls  map[string]int
	faults map[kind]failing
	offset time.Duration // of the clock
	trap   trap          // where it dies
}

// A failing is a fault of a process, for some time.
type failing struct {
	until  time.Time
	length time.Duration
}

// start starts a process.
func (s *simulation) start(number int, name string) *process {
	p := &process{world: s.world, sim: s, number: number, name: name, died: make(chan struct{}),
		calls: make(map[string]int), faults: make(map[kind]failing)}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	store := port{s.world, p}
	p.agent = p.newAgent("desk", store, p.newAgent("helper", nil, p.newAgent("helper", nil, nil)))
	hub, err := live.New(live.Config{Agent: p.agent, Recover: 7 * time.Second})
	if err != nil {
		panic(err)
	}
	p.hub = hub
	p.plans = p.newPlans()
	p.plansEnded = make(chan struct{})
	go func() {
		defer close(p.plansEnded)
		p.plans.Serve(p.ctx)
	}()
	p.startWorker()
	p.allow = ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: allowed, MaxOpen: 24 * time.Hour,
		Store: allowances{p}})
	s.note("%s starts", name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p)
	return p
}

// newAgent returns an agent that has another one as a tool, or none.
func (p *process) newAgent(name string, store journal.Store, child *agent.Agent) *agent.Agent {
	list := p.tools()
	if child != nil {
		list = append(list, agent.AsTool(child, tools.Spec{Name: helper, Description: "Helps."}))
	}
	cfg := agent.Config{Name: name, Provider: p.model(), Owner: p.name, Lease: lease, Tools: list,
		Limits: agent.Limits{Steps: 12}}
	if store != nil {
		cfg.Journal = store
	}
	p.addFeatures(&cfg)
	a, err := agent.New(cfg)
	if err != nil {
		panic(err)
	}
	return a
}

// dead reports whether the process has died.
func (p *process) dead() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

var errKilled = errors.New("sim: the process was killed")

// kill ends the process at once: what it does from now on doesn't count. Its goroutines end at
// their next call.
func (p *process) kill() {
	p.ending.Do(func() {
		p.note("%s is dead", p.name)
		close(p.died)
		p.cancel(errKilled)
		p.sim.work.Go(func() {
			_ = p.hub.Close()
			<-p.plansEnded
			<-p.workerEnded
		})
	})
}

// A trap is a place at which a process dies.
type trap uint8

// The traps.
const (
	anywhere     trap = iota // at once
	beforeAppend             // the store doesn't get what it appends, or gets it late
	afterAppend              // the store keeps it, and the process doesn't learn it
	afterEffect              // a tool has had its effect
	traps
)

// sprung kills the process if it is at its trap.
func (p *process) sprung(at trap) bool {
	p.mu.Lock()
	sprung := p.trap == at
	p.mu.Unlock()
	if sprung {
		p.kill()
	}
	return sprung
}

// set begins a fault.
func (p *process) set(k kind, length time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k == opClock {
		p.offset = length
	}
	p.faults[k] = failing{time.Now().Add(length), length}
}

// faulty reports whether the process has a fault. The caller holds mu.
func (p *process) faulty(k kind) bool { return time.Now().Before(p.faults[k].until) }

// stalled reports whether the process was ever stalled, so that it may be in the middle of an
// effect when it has lost the session.
func (p *process) stalled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults[opStall].length > 0
}

// stall waits while the process is stalled.
func (p *process) stall() {
	p.mu.Lock()
	until := p.faults[opStall].until
	p.mu.Unlock()
	if wait := time.Until(until); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-p.died:
		}
	}
}

// lease returns a lease as a process sees it whose clock is off.
func (p *process) lease(l journal.Lease) journal.Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.Until.IsZero() {
		l.Until = l.Until.Add(p.offset)
	}
	return l
}

// head does the same for a head.
func (p *process) head(h journal.Head) journal.Head {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.Until.IsZero() {
		h.Until = h.Until.Add(p.offset)
	}
	return h
}

// wait lets time pass, unless the process dies or ctx ends.
func (p *process) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-p.died:
		return errKilled
	}
	p.stall()
	if p.dead() {
		return errKilled
	}
	return context.Cause(ctx)
}

// count returns how often this process did something.
func (p *process) count(format string, args ...any) (key string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key = fmt.Sprintf(format, args...)
	p.calls[key]++
	return key, p.calls[key]
}
