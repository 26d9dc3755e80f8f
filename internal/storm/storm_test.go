package storm

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An Order is what the tool books.
type Order struct {
	N int `json:"n"`
}

// books counts what was booked.
type books struct {
	mu sync.Mutex
	n  map[int]int
}

func (b *books) tool() tools.Tool {
	return tools.New(tools.Spec{Name: "book", Description: "Books an order."},
		func(_ context.Context, in Order) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.n[in.N]++
			return "booked", nil
		})
}

// all returns how often each order was booked.
func (b *books) all() map[int]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.n)
}

// A path is all that stands before a model.
type path struct {
	gate   *ratelimit.Gate
	budget *budget.Budget
	ledger *budget.Ledger
	agent  *agent.Agent
	books  books
	unit   time.Duration // how long a short pause is
}

func newPath(t *testing.T, url string, client *http.Client, unit time.Duration) *path {
	t.Helper()
	model, err := openai.New(openai.Config{BaseURL: url + "/v1", API: openai.Chat, APIKey: "k", Model: "m",
		HTTPClient: client})
	require.NoError(t, err)
	p := &path{
		gate:   ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 60_000}),
		budget: budget.New(budget.Config{Global: budget.Limit{Tokens: 100_000_000}}),
		ledger: budget.NewLedger(budget.LedgerConfig{}),
		books:  books{n: make(map[int]int)},
		unit:   unit,
	}
	breaker := circuit.LLM()
	breaker.Cooldown = 10 * unit
	guarded, err := guard.New(model, guard.Config{
		Name: "model", Gate: p.gate, Budget: p.budget, Ledger: p.ledger, Breaker: circuit.New("llm:model", breaker),
		FirstChunk: 60 * unit, Idle: 60 * unit,
		Retry: map[fault.Class]fault.Retry{
			fault.Transient: {Attempts: 6, Min: unit / 10, Max: 5 * unit},
			fault.Degraded:  {Attempts: 6, Min: 5 * unit, Max: 30 * unit},
		},
	})
	require.NoError(t, err)
	p.agent, err = agent.New(agent.Config{Name: "clerk", Provider: guarded, Tools: []tools.Tool{p.books.tool()},
		NoGuard: true})
	require.NoError(t, err)
	return p
}

// A tally is how orders, and the runs that were made for them, ended.
type tally struct {
	done, lost      int // orders
	refused, gaveUp int // runs that ended at an open breaker, and those that failed otherwise
	most            int // runs for one order
}

// mostRuns is how often a caller makes a run for one order.
const mostRuns = 20

// serve has each session's orders booked, one after the other.
func (p *path) serve(t *testing.T, ctx context.Context, sessions, orders int) (sum tally) {
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for s := range sessions {
		wg.Go(func() {
			for r := range orders {
				<-time.After(20 * p.unit)
				n := s*orders + r + 1
				in := agent.Input{Session: fmt.Sprint("s-", s), Prompt: fmt.Sprintf("Book order %d please.", n)}
				if r%5 == 0 {
					in.Interactive = true
				} else {
					in.Priority = 20 * (1 + r%4)
				}
				one := p.order(t, ctx, in, time.Duration(s)*p.unit/10)
				if err := p.agent.Session(in.Session).Delete(ctx); err != nil {
					t.Errorf("order %d: %v", n, err)
				}
				mu.Lock()
				sum.done, sum.lost = sum.done+one.done, sum.lost+one.lost
				sum.refused, sum.gaveUp = sum.refused+one.refused, sum.gaveUp+one.gaveUp
				sum.most = max(sum.most, one.most)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum
}

// order does what a caller does who wants an order booked: it makes a run, and if that fails it
// waits for as long as the failure advises, at least 1, 2, 4 … 32 units, and a bit that differs
// from session to session, and makes another in the same session. What the runs before have booked
// is in the session's log, and isn't booked again.
func (p *path) order(t *testing.T, ctx context.Context, in agent.Input, bit time.Duration) (o tally) {
	for o.most < mostRuns && ctx.Err() == nil {
		o.most++
		res, err := p.agent.Run(ctx, in)
		if err == nil {
			o.done = 1
			return o
		}
		var (
			gaveUp *guard.GaveUpError
			open   *circuit.OpenError
		)
		if !errors.As(err, &gaveUp) || gaveUp.Reason == "" || !fault.Retryable(fault.Of(err)) {
			t.Errorf("%s %q ended for no reason that a caller could act on: %v, %v", in.Session, in.Prompt, res.Status,
				err)
			break
		}
		if errors.As(err, &open) {
			o.refused++
		} else {
			o.gaveUp++
		}
		wait, _ := fault.RetryAfter(err)
		<-time.After(max(wait, p.unit<<min(o.most-1, 5)) + bit)
	}
	o.lost = 1
	return o
}

var (
	seed   = flag.Uint64("seed", 7, "what the storm is made of")
	orders = flag.Int("orders", 20, "how many orders each of the storm's 50 sessions makes")
)

func TestRunsInAStormEndAndBookOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{rng: rand.New(rand.NewPCG(*seed, 7)), began: time.Now(), unit: time.Second, bad: .25}
		client, stop := srv.inMemory()
		defer stop()
		p := newPath(t, "http://model", client, time.Second)

		// The storms of seeds 1 to 170 with 40 orders were all weathered: of 2,000 runs 16 to 47
		// gave up, 150 to 771 were refused, and 8 at most were made for one order. The bounds
		// leave twice that.
		const sessions = 50
		runs := sessions * *orders
		sum := p.serve(t, t.Context(), sessions, *orders)
		t.Logf("%+v after %v; the server's answers: %v", sum, time.Since(srv.began), srv.seen)
		require.Equal(t, runs, sum.done, "a caller who comes again gets everything done: %+v", sum)
		require.Less(t, sum.gaveUp, runs/20, "the guard gets over nearly all by itself: %+v", sum)
		require.Greater(t, sum.refused, runs/40, "the breaker opens: %+v", sum)
		require.Less(t, sum.refused, runs, "and closes again: %+v", sum)
		require.Len(t, p.books.n, runs)
		for n, times := range p.books.n {
			require.Equal(t, 1, times, "order %d", n)
		}
		for b, n := range srv.seen {
			require.Positive(t, n, "badness %d", b)
		}

		snap := p.gate.Snapshot()
		require.Zero(t, snap.Running, "no slot is held")
		require.Zero(t, p.budget.Status(budget.ScopeGlobal, "").Reserved, "and nothing reserved")
		open, err := stop()
		require.NoError(t, err)
		require.Zero(t, open, "no connection is left")
	})
}

// TestAHangingInteractiveCallAfterARateLimitDelaysNoOther: the model refuses a person's call, takes
// it the next time, and is silent then; what comes meanwhile is booked before anybody has noticed.
func TestAHangingInteractiveCallAfterARateLimitDelaysNoOther(t *testing.T) {
	for name, tc := range map[string]struct {
		then   badness
		booked time.Duration // the pause takes 2 s
	}{
		"before its answer begins":    {hangs, 7 * time.Second},
		"in the middle of its answer": {drips, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &server{rng: rand.New(rand.NewPCG(1, 2)), began: time.Now(), unit: time.Second,
					first: []badness{limited, tc.then}}
				client, stop := srv.inMemory()
				defer stop()
				p := newPath(t, "http://model", client, time.Second)
				order := func(session string, n int, interactive bool) (took time.Duration) {
					res, err := p.agent.Run(t.Context(), agent.Input{Session: session,
						Prompt: fmt.Sprintf("Book order %d please.", n), Interactive: interactive})
					require.NoError(t, err)
					require.Equal(t, agent.Completed, res.Status)
					return time.Since(srv.began)
				}
				person := make(chan time.Duration)
				go func() { person <- order("ann", 1, true) }()
				synctest.Wait()
				require.Equal(t, tc.booked, order("job", 2, false))
				require.Equal(t, map[int]int{2: 1}, p.books.all())
				require.Greater(t, <-person, time.Minute, "which the guard gives it")
				require.Equal(t, map[int]int{1: 1, 2: 1}, p.books.all())
				require.Zero(t, p.gate.Snapshot().Step)
			})
		})
	}
}

func TestFiftyRunsOverLoopback(t *testing.T) {
	srv := &server{rng: rand.New(rand.NewPCG(1, 2)), began: time.Now(), unit: 2 * time.Millisecond, bad: .2}
	host := httptest.NewUnstartedServer(srv)
	host.Config.ErrorLog = quiet
	host.Start()
	defer host.Close()
	transport := &http.Transport{DialContext: new(net.Dialer).DialContext}
	defer transport.CloseIdleConnections()
	p := newPath(t, host.URL, &http.Client{Transport: transport}, 2*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	sum := p.serve(t, ctx, 10, 5)
	require.Equal(t, 50, sum.done+sum.lost)
	require.Positive(t, sum.done)
	for n, times := range p.books.n {
		require.Equal(t, 1, times, "order %d", n)
	}
	require.GreaterOrEqual(t, len(p.books.n), sum.done)
}
