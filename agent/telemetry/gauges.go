package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Observed is what [Telemetry.Gauges] shows. Each field may be empty.
type Observed struct {
	// Store is the journal of the agents, and the queue of a work.Worker: it has the runs by
	// status, what waits for a decision, and leases. A Telemetry shows one store. If several
	// processes have it, each shows the same, so use the maximum over them, or set it in one.
	Store journal.Store
	// Gates are shown under their names, which must differ.
	Gates []*ratelimit.Gate
	// Budgets are the limits that are shown. Tenants, users and sessions that it doesn't name
	// aren't shown.
	Budgets []BudgetLimit
	// Breakers are shown under their names, which must differ. So are those of BreakerSets, such as
	// agent.Config.Breakers: at most 100 of each set, those that aren't closed first, and the rest
	// together as "(others)".
	Breakers    []*circuit.Breaker
	BreakerSets []*circuit.Set
}

// A BudgetLimit names a limit of a budget that gauges show.
type BudgetLimit struct {
	Budget *budget.Budget
	// Scope is the kind of the limit. The zero Scope is the global limit.
	Scope budget.Scope
	// Name is the tenant, user, session, task or provider. For the global limit it may be any name
	// that tells this budget from others.
	Name string
}

// check returns an *agent.ArgError for what can't be shown.
func (o *Observed) check() error {
	type key struct {
		field, name string
		scope       budget.Scope
	}
	seen := make(map[key]bool)
	var err error
	check := func(isNil bool, i int, k key) {
		problem := "it is nil; leave it out"
		if !isNil {
			problem = fmt.Sprintf("an earlier one has the name %q, too; give them different names", k.name)
		}
		if err == nil && (isNil || seen[k]) {
			err = &agent.ArgError{Func: "telemetry.Gauges", Field: fmt.Sprintf("Observed.%s[%d]", k.field, i),
				Problem: problem}
		}
		seen[k] = true
	}
	for i, g := range o.Gates {
		k := key{field: "Gates"}
		if g != nil {
			k.name = g.Snapshot().Name
		}
		check(g == nil, i, k)
	}
	for i, b := range o.Budgets {
		check(b.Budget == nil, i, key{"Budgets", b.Name, b.Scope})
	}
	for i, b := range o.Breakers {
		check(b == nil, i, key{"Breakers", b.Name(), 0})
	}
	for i, s := range o.BreakerSets {
		check(s == nil, i, key{"BreakerSets", fmt.Sprint(i), 0})
	}
	return err
}

// Gauges shows the present state of what a host has, each time its metrics are read: see the
// package for the names. It may be called several times, with different things.
//
// A reading of the metrics takes at most 5 s, or half of the time that its context leaves. The
// store is read at most once in 10 s, whoever asks: the heads of sessions that are open or have
// failed, at most 10,000 of each status, and no logs. What can't be read in time, fails or panics
// is missing from that reading, and counted by pawl.gauge.errors.
//
// Call unregister before the store is closed. The gauges are gone then. It ends a reading of these
// gauges, waits for the store, for at most 5 s, and returns an error if that hasn't returned by
// then. Calling it again does nothing. The error of Gauges is a *[agent.ArgError].
func (t *Telemetry) Gauges(o Observed) (unregister func() error, err error) {
	if t == nil {
		return func() error { return nil }, nil
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{gauges: t.gauges, o: o, ended: ctx.Done()}
	if o.Store != nil {
		w.store = &reader{read: func() (state, error) { return readStore(ctx, o.Store) }, closing: ctx.Done()}
	}
	registered, err := t.meter.RegisterCallback(w.observe, t.gauges.all...)
	if err != nil {
		cancel()
		return nil, &agent.ArgError{Func: "telemetry.Gauges", Field: "Config.Metrics", Problem: err.Error(), Err: err}
	}
	return sync.OnceValue(func() error {
		cancel()
		err := registered.Unregister()
		return errors.Join(err, w.store.close())
	}), nil
}

// gauges are the instruments that are read when metrics are.
type gauges struct {
	runs, approvals, leases             metric.Int64ObservableGauge
	queueAge, approvalAge               metric.Float64ObservableGauge
	gateRunning, gateWaiting, gateSlots metric.Int64ObservableGauge
	gateAge                             metric.Float64ObservableGauge
	tokensLeft, tokensLimit, breakers   metric.Int64ObservableGauge
	moneyLeft, moneyLimit               metric.Float64ObservableGauge
	all                                 []metric.Observable
	errors                              metric.Int64Counter
}

func newGauges(m metric.Meter) (*gauges, error) {
	var g gauges
	var errs []error
	whole := func(name, unit, text string) metric.Int64ObservableGauge {
		i, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		g.all, errs = append(g.all, i), append(errs, err)
		return i
	}
	float := func(name, unit, text string) metric.Float64ObservableGauge {
		f, err := m.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		g.all, errs = append(g.all, f), append(errs, err)
		return f
	}
	g.runs = whole(metricRuns, "{run}", "Sessions by the status of their newest run.")
	g.queueAge = float(metricQueueAge, "s", "How long the queued run that has waited longest has been due.")
	g.approvals = whole(metricApprovals, "{approval}", "What waits for a person's decision.")
	g.approvalAge = float(metricApprovalAge, "s", "How long nothing has happened in the session that has waited longest.")
	g.leases = whole(metricLeases, "{lease}", "Running runs by the state of their leases.")
	g.gateRunning = whole(metricGateRunning, "{call}", "Calls that a gate lets run.")
	g.gateWaiting = whole(metricGateWaiting, "{call}", "Calls that wait at a gate.")
	g.gateAge = float(metricGateAge, "s", "How long the call has waited that has waited longest at a gate.")
	g.gateSlots = whole(metricGateSlots, "{call}", "Calls that may run at a time.")
	g.tokensLeft = whole(metricTokensLeft, "{token}", "Tokens that a budget has left.")
	g.tokensLimit = whole(metricTokensLimit, "{token}", "Tokens that a budget has in a period.")
	g.moneyLeft = float(metricMoneyLeft, "{USD}", "US dollars that a budget has left.")
	g.moneyLimit = float(metricMoneyLimit, "{USD}", "US dollars that a budget has in a period.")
	g.breakers = whole(metricBreakers, "{breaker}", "Breakers by state.")
	var err error
	g.errors, err = m.Int64Counter(metricGaugeErrors, metric.WithUnit("{error}"),
		metric.WithDescription("Gauges that couldn't be read."))
	return &g, errors.Join(append(errs, err)...)
}

// A watcher reads what one call of Gauges shows.
type watcher struct {
	*gauges
	o     Observed
	store *reader // nil: there is none
	ended <-chan struct{}
}

// observe reads everything. It returns no error, since a reader of metrics may then export nothing
// at all.
func (w *watcher) observe(ctx context.Context, to metric.Observer) error {
	for _, part := range []struct {
		kind string
		show func(context.Context, metric.Observer) error
	}{{"store", w.showStore}, {"gate", w.showGates}, {"budget", w.showBudgets}, {"breaker", w.showBreakers}} {
		err := func() (err error) {
			defer contain.Panic(&err)
			return part.show(ctx, to)
		}()
		if isClosed(w.ended) {
			return nil
		}
		if err != nil {
			w.errors.Add(ctx, 1, metric.WithAttributes(attribute.String(attrKind, part.kind),
				attribute.String(attrError, classOf(fault.Of(err)))))
		}
	}
	return nil
}

func (w *watcher) showStore(ctx context.Context, to metric.Observer) error {
	s, err := w.store.get(ctx)
	if err != nil || s == nil {
		return err
	}
	for status, n := range s.runs {
		to.ObserveInt64(w.runs, n, metric.WithAttributes(attribute.String(attrStatus, status)))
	}
	to.ObserveFloat64(w.queueAge, age(s.due))
	for kind, n := range s.open {
		set := metric.WithAttributes(attribute.String(attrKind, kind))
		to.ObserveInt64(w.approvals, n, set)
		to.ObserveFloat64(w.approvalAge, age(s.since[kind]), set)
	}
	for state, n := range s.leases {
		to.ObserveInt64(w.leases, n, metric.WithAttributes(attribute.String(attrState, state)))
	}
	return nil
}

// age returns the seconds since then; 0 for the zero time, and for a clock that is behind.
func age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(time.Since(since).Seconds(), 0)
}

func (w *watcher) showGates(_ context.Context, to metric.Observer) error {
	for _, g := range w.o.Gates {
		s := g.Snapshot()
		to.ObserveInt64(w.gateSlots, int64(s.Slots), metric.WithAttributes(attribute.String(attrName, s.Name)))
		var background ratelimit.Lane // of all its priorities
		show := func(lane string, l ratelimit.Lane) {
			set := metric.WithAttributes(attribute.String(attrName, s.Name), attribute.String(attrLane, lane))
			to.ObserveInt64(w.gateRunning, int64(l.Running), set)
			to.ObserveInt64(w.gateWaiting, int64(l.Queued), set)
			to.ObserveFloat64(w.gateAge, l.Longest.Seconds(), set)
		}
		for _, l := range s.Lanes {
			if l.Interactive {
				show("interactive", l)
				continue
			}
			background.Running += l.Running
			background.Queued += l.Queued
			background.Longest = max(background.Longest, l.Longest)
		}
		show("background", background)
	}
	return nil
}

func (w *watcher) showBudgets(_ context.Context, to metric.Observer) error {
	for _, b := range w.o.Budgets {
		name := b.Name
		if b.Scope == budget.ScopeGlobal {
			name = ""
		}
		s := b.Budget.Status(b.Scope, name)
		left, set := s.Left(), metric.WithAttributes(attribute.String(attrScope, b.Scope.String()),
			attribute.String(attrName, b.Name))
		if s.Limit.Tokens != budget.Unlimited {
			to.ObserveInt64(w.tokensLeft, left.Tokens, set)
			to.ObserveInt64(w.tokensLimit, s.Limit.Tokens, set)
		}
		if s.Limit.Micros != budget.Unlimited {
			to.ObserveFloat64(w.moneyLeft, float64(left.Micros)/1e6, set)
			to.ObserveFloat64(w.moneyLimit, float64(s.Limit.Micros)/1e6, set)
		}
	}
	return nil
}

// mostBreakers is how many breakers of a set are shown by name.
const mostBreakers = 100

func (w *watcher) showBreakers(_ context.Context, to metric.Observer) error {
	type key struct{ name, state string }
	counts := make(map[key]int64)
	for _, b := range w.o.Breakers {
		counts[key{b.Name(), b.State().String()}]++
	}
	for _, set := range w.o.BreakerSets {
		all := set.Snapshot()
		shown := 0
		for _, closed := range []bool{false, true} {
			for _, s := range all {
				if (s.State == circuit.Closed) != closed {
					continue
				}
				name := s.Name
				if shown++; shown > mostBreakers {
					name = "(others)"
				}
				counts[key{name, s.State.String()}]++
			}
		}
	}
	for k, n := range counts {
		to.ObserveInt64(w.breakers, n, metric.WithAttributes(attribute.String(attrName, k.name),
			attribute.String(attrState, k.state)))
	}
	return nil
}
