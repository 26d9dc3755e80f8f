package day

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// The limits of the providers, as both sides know them.
const (
	primarySlots = 8
	primaryRate  = 80 // requests a minute
	primarySpeed = 60 // tokens a second
	backupSlots  = 4
	backupRate   = 40
	backupSpeed  = 45
)

// models returns the two providers of a side.
func (p *Plan) models() (primary, backup *Model) {
	return newModel("primary", p, primaryRate, primarySpeed, primaryPrices, true),
		newModel("backup", p, backupRate, backupSpeed, backupPrices, false)
}

// pawl is the side with Pawl: what a service configures, with the library's defaults for everything
// else.
type pawl struct {
	primary, backup *Model
	gates           []*ratelimit.Gate
	breakers        []*circuit.Breaker
	budget          *budget.Budget
	ledger          *budget.Ledger
	chain           provider.Provider
	born            time.Time

	mu     sync.Mutex // guards what follows
	opened int
	events []BudgetNote
}

func newPawl(p *Plan) (*pawl, error) {
	w := &pawl{ledger: budget.NewLedger(), born: time.Now()}
	w.primary, w.backup = p.models()
	w.budget = budget.New(budget.Config{
		Global:  p.Limit,
		Tasks:   map[string]budget.Limit{Audit: p.AuditLimit},
		OnEvent: w.noteBudget,
	})
	primary, err := w.guarded(w.primary, ratelimit.GateConfig{Slots: primarySlots, RequestsPerMinute: primaryRate})
	if err != nil {
		return nil, err
	}
	backup, err := w.guarded(w.backup, ratelimit.GateConfig{Slots: backupSlots, RequestsPerMinute: backupRate})
	if err != nil {
		return nil, err
	}
	w.chain, err = guard.Failover(primary, backup)
	return w, err
}

// guarded puts the whole path of a call around a model.
func (w *pawl) guarded(m *Model, cfg ratelimit.GateConfig) (provider.Provider, error) {
	cfg.Name = m.name
	rules := circuit.LLM()
	rules.OnChange = w.noteBreaker
	gate, breaker := ratelimit.NewGate(cfg), circuit.New("llm:"+m.name, rules)
	w.gates, w.breakers = append(w.gates, gate), append(w.breakers, breaker)
	return guard.New(m, guard.Config{
		Name: m.name, Gate: gate, Breaker: breaker, Budget: w.budget, Ledger: w.ledger,
		Retry: map[fault.Class]guard.Retry{fault.Degraded: {Exact: true}}, // so that the day is the same each time
	})
}

func (w *pawl) noteBreaker(c circuit.Change) {
	if c.To != circuit.Open {
		return
	}
	w.mu.Lock()
	w.opened++
	w.mu.Unlock()
}

func (w *pawl) noteBudget(e budget.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := e.Scope.String()
	if e.Name != "" {
		name += " " + e.Name
	}
	w.events = append(w.events, BudgetNote{At: time.Since(w.born), Of: name, Kind: string(e.Kind)})
}

func (w *pawl) call(ctx context.Context, c *Call, onChunk func(provider.Chunk)) error {
	return listen(w.chain.Stream(ctx, c.request()), onChunk)
}

func (w *pawl) models() (primary, backup *Model) { return w.primary, w.backup }

// look adds to a tick what the gates and breakers show.
func (w *pawl) look(t *SideTick) {
	for i, g := range w.gates {
		s := g.Snapshot()
		t.Preempted += int(s.Totals.Preempted)
		if wait := time.Until(s.PausedUntil); wait > 0 {
			t.State = fmt.Sprintf("%s pauses for %v", s.Name, wait.Round(time.Second))
		}
		if w.breakers[i].State() != circuit.Closed {
			t.State = fmt.Sprintf("%s: breaker %v", s.Name, w.breakers[i].State())
		}
	}
}

// close ends the gates, and adds to a report what they and the books show.
func (w *pawl) close(r *SideReport) {
	for _, g := range w.gates {
		totals := g.Snapshot().Totals
		r.Preempted += int(totals.Preempted)
		r.Overtaken += int(totals.Overtaken)
		r.Pauses += int(totals.Pauses)
		g.Close()
	}
	r.Booked = provider.Money(w.ledger.Total(budget.Filter{}).Micros)
	status := w.budget.Status(budget.ScopeGlobal, "")
	r.BudgetSpent, r.BudgetReserved = provider.Money(status.Spent.Micros), provider.Money(status.Reserved.Micros)
	r.AuditSpent = provider.Money(w.budget.Status(budget.ScopeTask, Audit).Spent.Micros)
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Opened, r.Notes = w.opened, w.events
}
