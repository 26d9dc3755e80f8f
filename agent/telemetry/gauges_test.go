package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// gauges reads the metrics, and returns the gauges and the errors of gauges: by name and the values
// of the attributes, in the order of their names.
func gauges(t *testing.T, ctx context.Context, reader sdkmetric.Reader) map[string]float64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(ctx, &data), "an exporter would export nothing")
	found := make(map[string]float64)
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[int64]:
				note(found, m.Name, d.DataPoints)
			case metricdata.Gauge[float64]:
				note(found, m.Name, d.DataPoints)
			case metricdata.Sum[int64]:
				if m.Name == "pawl.gauge.errors" {
					note(found, m.Name, d.DataPoints)
				}
			}
		}
	}
	return found
}

func note[N int64 | float64](found map[string]float64, name string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		key := name
		for _, kv := range p.Attributes.ToSlice() {
			key += " " + kv.Value.String()
		}
		found[key] = float64(p.Value)
	}
}

// of returns the gauges whose names begin so.
func of(found map[string]float64, prefixes ...string) map[string]float64 {
	some := make(map[string]float64)
	for key, v := range found {
		for _, prefix := range prefixes {
			if strings.HasPrefix(key, prefix) {
				some[key] = v
			}
		}
	}
	return some
}

// observed returns a rig that shows o, and how to end that.
func observed(t *testing.T, o telemetry.Observed) (*rig, func() error) {
	t.Helper()
	r := newRig(t, telemetry.Config{})
	unregister, err := r.tel.Gauges(o)
	require.NoError(t, err)
	return r, unregister
}

// A counted store counts what is read of it.
type counted struct {
	journal.Store
	lists, heads, reads atomic.Int64
}

func (c *counted) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	c.lists.Add(1)
	return func(yield func(journal.Head, error) bool) {
		for h, err := range c.Store.Heads(ctx, f) {
			if c.heads.Add(1); !yield(h, err) {
				return
			}
		}
	}
}

func (c *counted) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	c.reads.Add(1)
	return c.Store.Read(ctx, session, after)
}

// leased makes a session that is running, with a lease of that time; 0: with none.
func leased(t *testing.T, store journal.Store, session string, ttl time.Duration) {
	t.Helper()
	var fence uint64
	if ttl > 0 {
		l, err := store.Lease(t.Context(), session, "process of "+session, ttl)
		require.NoError(t, err)
		fence = l.Fence
	}
	require.NoError(t, store.Append(t.Context(), journal.Append{Session: session, Fence: fence,
		Records: []journal.Record{{Kind: "k", V: 1}}, Head: &journal.HeadUpdate{Status: "running"}}))
}

func TestGaugesOfAJournal(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	store := &counted{Store: file}
	r, unregister := observed(t, telemetry.Observed{Store: store})
	for i := range 30 { // which no gauge needs
		run(t, theAgent(t, r.tel, file, providertest.Say("Done.")),
			agent.Input{Session: fmt.Sprintf("done-%d", i), Prompt: "Go."})
	}
	a := theAgent(t, r.tel, file, call("delete", "home"))
	run(t, a, agent.Input{Session: "asks", Prompt: "Delete it."})
	for name, at := range map[string]time.Time{"due-1": {}, "due-2": time.Now().Add(-time.Hour),
		"later": time.Now().Add(time.Hour)} {
		require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: name, Key: "1", Prompt: "Go."},
			agent.QueueOptions{At: at}))
	}
	_, err = theAgent(t, r.tel, file, providertest.FailWith(fault.New(fault.Permanent, "no"))).Run(t.Context(),
		agent.Input{Session: "failed", Prompt: "Go."})
	require.Error(t, err)
	leased(t, file, "held", time.Hour)
	leased(t, file, "dead", time.Nanosecond)
	leased(t, file, "drained", 0)

	found := gauges(t, t.Context(), r.metrics)
	require.GreaterOrEqual(t, found["pawl.queue.age"], 3600.0)
	require.Equal(t, map[string]float64{"pawl.runs queued": 2, "pawl.runs scheduled": 1, "pawl.runs running": 3,
		"pawl.runs paused": 1, "pawl.runs failed": 1, "pawl.leases held": 1, "pawl.leases expired": 1,
		"pawl.leases none": 1, "pawl.approval.open approval": 1, "pawl.approval.open in_doubt": 0,
		"pawl.approval.open correction": 0, "pawl.approval.open secret": 0, "pawl.approval.open question": 0},
		of(found, "pawl.runs", "pawl.leases", "pawl.approval.open"))
	require.Contains(t, found, "pawl.approval.age approval")
	require.EqualValues(t, 5, store.lists.Load())
	require.EqualValues(t, 9, store.heads.Load(), "the paused one twice, and none of those that are done")
	require.Zero(t, store.reads.Load(), "no log")

	require.NoError(t, unregister())
	require.Empty(t, of(gauges(t, t.Context(), r.metrics), "pawl."))
	require.EqualValues(t, 5, store.lists.Load())
	require.NoError(t, unregister(), "again")
}

func TestAllQueuedRunsAreCounted(t *testing.T) {
	store := &journal.MapStore{}
	for i := range 10_053 {
		h := journal.HeadUpdate{Status: "queued", Due: time.Now().Add(-time.Hour),
			Queue: &journal.Place{Agent: "a", Group: fmt.Sprint(i % 2)}}
		if i < 3 {
			h.Due = time.Now().Add(time.Hour)
		}
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: fmt.Sprint("s-", i), Head: &h}))
	}
	r, unregister := observed(t, telemetry.Observed{Store: store})
	found := gauges(t, t.Context(), r.metrics)
	require.NoError(t, unregister())
	require.Equal(t, map[string]float64{"pawl.runs queued": 10_050, "pawl.runs scheduled": 3, "pawl.runs running": 0,
		"pawl.runs paused": 0, "pawl.runs failed": 0}, of(found, "pawl.runs"))
	require.InDelta(t, 3600, found["pawl.queue.age"], 60)
}

func TestWhatPeopleDecideIsCountedByKind(t *testing.T) {
	store := &journal.MapStore{}
	for session, head := range map[string]journal.HeadUpdate{
		"a": {Open: []journal.Open{{ID: "p-1", Kind: "approval"}, {ID: "p-2", Kind: "made up by a tool"},
			{ID: "p-3", Kind: "question"}}},
		"b": {Open: []journal.Open{{ID: "p-4", Kind: "approval", For: "an agent"}}},
		"c": {Open: []journal.Open{{ID: "p-5", Kind: "approval"}}, Kind: "plan"},
		"d": {Open: []journal.Open{{ID: "p-6", Kind: "approval"}}, Kind: "another package's"},
		"e": {Open: []journal.Open{{ID: "p-7", Kind: "approval"}}, Parent: "a"},
	} {
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: session, Head: &head}))
	}
	r, unregister := observed(t, telemetry.Observed{Store: store})
	require.Equal(t, map[string]float64{"pawl.approval.open approval": 2, "pawl.approval.open in_doubt": 0,
		"pawl.approval.open correction": 0, "pawl.approval.open secret": 0, "pawl.approval.open question": 2},
		of(gauges(t, t.Context(), r.metrics), "pawl.approval.open"))
	require.NoError(t, unregister())
}

func TestAgesAreInSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "g", Slots: 1, ReservedShare: -1})
		r, unregister := observed(t, telemetry.Observed{Store: store, Gates: []*ratelimit.Gate{gate}})
		a := theAgent(t, r.tel, store, call("delete", "home"))
		run(t, a, agent.Input{Session: "asks", Prompt: "Delete it."})
		require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: "q", Key: "1", Prompt: "Go."},
			agent.QueueOptions{At: time.Now().Add(time.Hour)}))
		l, err := gate.Acquire(t.Context(), ratelimit.AcquireRequest{NoPreempt: true})
		require.NoError(t, err)
		waits := waiting(t, gate, ratelimit.AcquireRequest{})

		require.Zero(t, gauges(t, t.Context(), r.metrics)["pawl.queue.age"])
		time.Sleep(2 * time.Hour)
		found := gauges(t, t.Context(), r.metrics)
		require.Equal(t, 3600.0, found["pawl.queue.age"])
		require.Equal(t, 7200.0, found["pawl.approval.age approval"])
		require.Equal(t, 0.0, found["pawl.approval.age question"])
		require.Equal(t, 7200.0, found["pawl.gate.age background g"])
		require.Equal(t, 0.0, found["pawl.gate.age interactive g"])
		waits()
		l.Release(ratelimit.Outcome{})
		require.NoError(t, unregister())
	})
}

// waiting has requests wait for a slot of the gate until leave is called.
func waiting(t *testing.T, gate *ratelimit.Gate, requests ...ratelimit.AcquireRequest) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	waits, left := make(chan bool), make(chan error)
	for _, req := range requests {
		told := false
		req.OnWait = func(ratelimit.Delay) {
			if !told {
				told = true
				waits <- true
			}
		}
		go func() {
			_, err := gate.Acquire(ctx, req)
			left <- err
		}()
	}
	for range requests {
		<-waits
	}
	return func() {
		cancel()
		for range requests {
			require.ErrorIs(t, <-left, context.Canceled)
		}
	}
}

func TestGaugesOfGates(t *testing.T) {
	gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "anthropic", Slots: 3, ReservedShare: -1})
	idle := ratelimit.NewGate(ratelimit.GateConfig{Name: "idle"})
	r, unregister := observed(t, telemetry.Observed{Gates: []*ratelimit.Gate{gate, idle}})
	var leases []ratelimit.Lease
	for _, req := range []ratelimit.AcquireRequest{{Interactive: true}, {NoPreempt: true, Priority: 9},
		{NoPreempt: true, Priority: 7}} {
		l, err := gate.Acquire(t.Context(), req)
		require.NoError(t, err)
		leases = append(leases, l)
	}
	leave := waiting(t, gate, ratelimit.AcquireRequest{Interactive: true}, ratelimit.AcquireRequest{Priority: 3},
		ratelimit.AcquireRequest{Priority: 4}, ratelimit.AcquireRequest{Priority: 5})
	found := gauges(t, t.Context(), r.metrics)
	require.Equal(t, map[string]float64{
		"pawl.gate.slots anthropic": 3, "pawl.gate.slots idle": 8,
		"pawl.gate.running interactive anthropic": 1, "pawl.gate.running background anthropic": 2,
		"pawl.gate.waiting interactive anthropic": 1, "pawl.gate.waiting background anthropic": 3,
		"pawl.gate.running interactive idle": 0, "pawl.gate.running background idle": 0,
		"pawl.gate.waiting interactive idle": 0, "pawl.gate.waiting background idle": 0,
	}, of(found, "pawl.gate.slots", "pawl.gate.running", "pawl.gate.waiting"))
	leave()
	for _, l := range leases {
		l.Release(ratelimit.Outcome{})
	}
	require.NoError(t, unregister())
}

func TestGaugesOfBudgets(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000, USD: 2},
		Tenant: func(string) budget.Limit { return budget.Limit{USD: 1} }})
	for _, tenant := range []string{"acme", "secret", ""} {
		res, err := b.Reserve(t.Context(), budget.ReserveRequest{Names: budget.Names{Tenant: tenant}, Tokens: 100,
			Micros: 300_000})
		require.NoError(t, err)
		if tenant == "acme" {
			res.Settle(100, 250_000)
			continue
		}
		defer res.Settle(100, 300_000) // is in progress
	}
	r, unregister := observed(t, telemetry.Observed{Budgets: []telemetry.BudgetLimit{{Budget: b},
		{Budget: b, Scope: budget.ScopeTenant, Name: "acme"}, {Budget: b, Scope: budget.ScopeTask, Name: "no limit"},
		{Budget: budget.New(budget.Config{Global: budget.Limit{Tokens: 7}}), Name: "nightly"}}})
	require.Equal(t, map[string]float64{
		"pawl.budget.left.tokens  global": 700, "pawl.budget.limit.tokens  global": 1000,
		"pawl.budget.left.usd  global": 1.15, "pawl.budget.limit.usd  global": 2,
		"pawl.budget.left.usd acme tenant": .75, "pawl.budget.limit.usd acme tenant": 1,
		"pawl.budget.left.tokens nightly global": 7, "pawl.budget.limit.tokens nightly global": 7,
	}, of(gauges(t, t.Context(), r.metrics), "pawl."))
	require.NoError(t, unregister())
}

func TestGaugesOfBreakers(t *testing.T) {
	cfg := circuit.Config{Consecutive: 1}
	open := func(b *circuit.Breaker) *circuit.Breaker {
		permit, err := b.Allow()
		require.NoError(t, err)
		permit.Done(errors.New("down"))
		return b
	}
	tools, many := circuit.NewSet(cfg), circuit.NewSet(cfg)
	open(tools.Get("search"))
	tools.Get("read")
	for i := range 150 {
		many.Get(fmt.Sprintf("host-%03d", i))
	}
	open(many.Get("host-149"))
	r, unregister := observed(t, telemetry.Observed{Breakers: []*circuit.Breaker{open(circuit.New("anthropic", cfg))},
		BreakerSets: []*circuit.Set{tools, many}})
	found := of(gauges(t, t.Context(), r.metrics), "pawl.breakers")
	require.Equal(t, 1.0, found["pawl.breakers anthropic open"])
	require.Equal(t, 1.0, found["pawl.breakers search open"])
	require.Equal(t, 1.0, found["pawl.breakers read closed"])
	require.Equal(t, 1.0, found["pawl.breakers host-149 open"], "those that aren't closed come first")
	require.Equal(t, 50.0, found["pawl.breakers (others) closed"])
	require.Len(t, found, 3+100+1)
	require.NoError(t, unregister())
}

// Several exporters, and one that asks often, cost the store no more.
func TestAStoreIsReadOnceInTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Store: &journal.MapStore{}}
		one, two := sdkmetric.NewManualReader(), sdkmetric.NewManualReader()
		tel, err := telemetry.New(telemetry.Config{Metrics: sdkmetric.NewMeterProvider(sdkmetric.WithReader(one),
			sdkmetric.WithReader(two))})
		require.NoError(t, err)
		unregister, err := tel.Gauges(telemetry.Observed{Store: store})
		require.NoError(t, err)
		require.Zero(t, store.lists.Load(), "nobody has asked")
		for range 9 {
			require.Contains(t, gauges(t, t.Context(), one), "pawl.runs queued")
			require.Contains(t, gauges(t, t.Context(), two), "pawl.runs queued")
			time.Sleep(time.Second)
		}
		require.EqualValues(t, 5, store.lists.Load())
		time.Sleep(time.Second)
		gauges(t, t.Context(), one)
		require.EqualValues(t, 10, store.lists.Load())
		require.NoError(t, unregister())
	})
}

// A bad store does as hangs says instead of listing.
type bad struct {
	journal.Store
	hangs func(ctx context.Context) error
	lists atomic.Int64
}

func (b *bad) Heads(ctx context.Context, _ journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		b.lists.Add(1)
		yield(journal.Head{}, b.hangs(ctx))
	}
}

func TestAStoreThatFailsIsMissingAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		hangs func(context.Context) error
		class string
		takes time.Duration
	}{
		"fails":  {func(context.Context) error { return fault.New(fault.Denied, "the secret") }, "denied", 0},
		"panics": {func(context.Context) error { panic("the secret") }, "permanent", 0},
		"is slow": {func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, "transient", 5 * time.Second},
		"ends its goroutine": {func(context.Context) error {
			runtime.Goexit()
			return nil
		}, "permanent", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &bad{hangs: c.hangs}
				gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "g"})
				r, unregister := observed(t, telemetry.Observed{Store: store, Gates: []*ratelimit.Gate{gate}})
				begun := time.Now()
				found := gauges(t, t.Context(), r.metrics)
				require.Equal(t, c.takes, time.Since(begun))
				require.Equal(t, map[string]float64{"pawl.gauge.errors " + c.class + " store": 1,
					"pawl.gate.slots g": 8}, of(found, "pawl.gauge", "pawl.gate.slots", "pawl.runs", "pawl.queue",
					"pawl.approval", "pawl.leases"))
				require.NoError(t, unregister())
			})
		})
	}
}

// A reading that waits for a store which ignores its context doesn't hold up unregister.
func TestUnregisterEndsAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, done := make(chan bool), make(chan bool)
		store := &bad{hangs: func(context.Context) error { <-release; return nil }}
		r, unregister := observed(t, telemetry.Observed{Store: store})
		go func() {
			defer close(done)
			_ = r.metrics.Collect(t.Context(), &metricdata.ResourceMetrics{})
		}()
		synctest.Wait()
		begun := time.Now()
		require.ErrorContains(t, unregister(), "the store is still reading")
		require.Equal(t, 5*time.Second, time.Since(begun))
		<-done
		close(release)
	})
}

// A store that ignores its context costs one goroutine, one wait, and never the whole reading.
func TestAHangingStoreHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		store := &bad{hangs: func(context.Context) error { <-release; return nil }}
		gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "g"})
		r, unregister := observed(t, telemetry.Observed{Store: store, Gates: []*ratelimit.Gate{gate}})
		for i, c := range []struct{ has, takes time.Duration }{
			{4 * time.Second, 2 * time.Second}, // half of what the context leaves
			{time.Minute, 3 * time.Second},     // the reading has 5 s in all
			{time.Minute, 0}, {time.Minute, 0}, // and is over
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.has)
			begun := time.Now()
			found := gauges(t, ctx, r.metrics)
			cancel()
			require.Equal(t, c.takes, time.Since(begun), i)
			require.Equal(t, 8.0, found["pawl.gate.slots g"])
			require.Equal(t, float64(i+1), found["pawl.gauge.errors transient store"])
			require.NotContains(t, found, "pawl.runs queued")
		}
		time.Sleep(time.Hour)
		gauges(t, t.Context(), r.metrics)
		require.EqualValues(t, 1, store.lists.Load(), "no second one is begun")

		begun := time.Now()
		require.ErrorContains(t, unregister(), "the store is still reading")
		require.Equal(t, 5*time.Second, time.Since(begun))
		close(release)
	})
}

// What is asked when the gauges are unregistered ends at once.
func TestUnregisteringEndsAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &bad{hangs: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		r, unregister := observed(t, telemetry.Observed{Store: store})
		done := make(chan map[string]float64)
		go func() { done <- gauges(t, t.Context(), r.metrics) }()
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, unregister())
		require.Empty(t, <-done, "that is no error")
		require.Zero(t, time.Since(begun))
		require.EqualValues(t, 1, store.lists.Load())
	})
}

func TestAFunctionOfABudgetThatPanicsIsMissingAndCounted(t *testing.T) {
	b := budget.New(budget.Config{Tenant: func(string) budget.Limit { panic("no") }})
	r, unregister := observed(t, telemetry.Observed{Breakers: []*circuit.Breaker{circuit.New("b", circuit.Config{})},
		Budgets: []telemetry.BudgetLimit{{Budget: b, Scope: budget.ScopeTenant, Name: "acme"}}})
	require.Equal(t, map[string]float64{"pawl.gauge.errors permanent budget": 1, "pawl.breakers b closed": 1},
		of(gauges(t, t.Context(), r.metrics), "pawl."))
	require.NoError(t, unregister())
}

func TestWhatCantBeShownIsRefused(t *testing.T) {
	gate, b := ratelimit.NewGate(ratelimit.GateConfig{}), budget.New(budget.Config{})
	breaker := circuit.New("b", circuit.Config{})
	r := newRig(t, telemetry.Config{})
	for field, o := range map[string]telemetry.Observed{
		"Gates[0]":       {Gates: []*ratelimit.Gate{nil}},
		"Gates[1]":       {Gates: []*ratelimit.Gate{gate, gate}},
		"Budgets[0]":     {Budgets: []telemetry.BudgetLimit{{Name: "x"}}},
		"Budgets[2]":     {Budgets: []telemetry.BudgetLimit{{Budget: b}, {Budget: b, Name: "x"}, {Budget: b}}},
		"Breakers[0]":    {Breakers: []*circuit.Breaker{nil}},
		"Breakers[1]":    {Breakers: []*circuit.Breaker{breaker, breaker}},
		"BreakerSets[1]": {BreakerSets: []*circuit.Set{circuit.NewSet(circuit.Config{}), nil}},
	} {
		_, err := r.tel.Gauges(o)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, "Observed."+field, wrong.Field)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, unregister := observed(t, telemetry.Observed{})
	require.NoError(t, unregister(), "nothing is shown")
}
