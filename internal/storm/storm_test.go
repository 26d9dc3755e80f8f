package storm

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/ratelimit"
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
	return tools.New(tools.Spec{Name: "book", Description: "Books an order."}, func(_ context.Context, in Order) (string, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.n[in.N]++
		return "booked", nil
	})
}

// A path is all that stands before a model.
type path struct {
	gate   *ratelimit.Gate
	budget *ratelimit.Budget
	ledger *ratelimit.Ledger
	agent  *agent.Agent
	books  books
	rest   time.Duration // of a session between its runs
}

func newPath(t *testing.T, url string, client *http.Client, unit time.Duration) *path {
	t.Helper()
	model, err := openai.New(openai.Config{BaseURL: url + "/v1", API: openai.Chat, APIKey: "k", Model: "m", HTTPClient: client})
	require.NoError(t, err)
	p := &path{
		gate:   ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 60_000}),
		budget: ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100_000_000}}),
		ledger: ratelimit.NewLedger(),
		books:  books{n: make(map[int]int)},
		rest:   20 * unit,
	}
	breaker := circuit.LLM()
	breaker.Cooldown = 10 * unit
	guarded, err := guard.New(model, guard.Config{
		Name: "model", Gate: p.gate, Budget: p.budget, Ledger: p.ledger, Breaker: circuit.New("llm:model", breaker),
		FirstChunk: 60 * unit, Idle: 60 * unit,
		Retry: map[fault.Class]guard.Retry{
			fault.Transient: {Attempts: 6, Min: unit / 10, Max: 5 * unit},
			fault.Degraded:  {Attempts: 6, Min: 5 * unit, Max: 30 * unit},
		},
	})
	require.NoError(t, err)
	p.agent, err = agent.New(agent.Config{Name: "clerk", Provider: guarded, Tools: []tools.Tool{p.books.tool()}, Bare: true})
	require.NoError(t, err)
	return p
}

// serve runs each session's runs, one after the other, and returns how they ended.
func (p *path) serve(t *testing.T, ctx context.Context, sessions, runs int) (completed, failed int) {
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for s := range sessions {
		wg.Go(func() {
			for r := range runs {
				<-time.After(p.rest)
				n := s*runs + r + 1
				in := agent.Input{Session: fmt.Sprint("s-", s), Prompt: fmt.Sprintf("Book order %d please.", n)}
				if r%5 == 0 {
					in.Interactive = true
				} else {
					in.Priority = 20 * (1 + r%4)
				}
				res, err := p.agent.Run(ctx, in)
				p.agent.Forget(ctx, in.Session)
				mu.Lock()
				switch {
				case err == nil && res.Status == agent.Completed:
					completed++
				case !typed(err, res):
					t.Errorf("run %d ended without a typed reason: %v", n, err)
				default:
					failed++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return completed, failed
}

// typed reports whether a run says why it ended in a way that a program can act on.
func typed(err error, res *agent.Result) bool {
	if err == nil && res != nil {
		err = res.Err()
	}
	var (
		gaveUp *guard.GaveUpError
		open   *circuit.OpenError
		budget *ratelimit.BudgetError
		failed *provider.Error
		stop   *agent.StopError
	)
	return errors.As(err, &gaveUp) || errors.As(err, &open) || errors.As(err, &budget) || errors.As(err, &failed) || errors.As(err, &stop)
}

func TestTwoThousandRunsInAStormEndProperlyAndBookOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newPipes()
		srv := &server{rng: rand.New(rand.NewPCG(7, 7)), began: time.Now(), unit: time.Second, bad: .25}
		host := &http.Server{Handler: srv, ErrorLog: quiet}
		var serving sync.WaitGroup
		serving.Go(func() { _ = host.Serve(net) })
		transport := &http.Transport{DialContext: net.dial, MaxIdleConnsPerHost: 64}
		defer func() {
			transport.CloseIdleConnections()
			_ = host.Close()
			net.Close()
			serving.Wait()
		}()
		p := newPath(t, "http://model", &http.Client{Transport: transport}, time.Second)

		const sessions, runs = 50, 40
		completed, failed := p.serve(t, t.Context(), sessions, runs)
		require.Equal(t, sessions*runs, completed+failed)
		require.Greater(t, completed, sessions*runs/2, "most of it can be done")
		booked := 0
		for n, times := range p.books.n {
			require.Equal(t, 1, times, "order %d", n)
			booked++
		}
		require.GreaterOrEqual(t, booked, completed)
		for b, n := range srv.seen {
			require.Positive(t, n, "badness %d", b)
		}
		t.Logf("%d runs completed, %d failed with a typed reason; the server's answers: %v", completed, failed, srv.seen)

		snap := p.gate.Snapshot()
		require.Zero(t, snap.Running, "no slot is held")
		require.Zero(t, p.budget.Status(ratelimit.ScopeGlobal, "").Reserved, "and nothing reserved")
		transport.CloseIdleConnections()
		require.NoError(t, host.Close())
		net.Close()
		serving.Wait()
		synctest.Wait()
		require.Zero(t, net.open.Load(), "no connection is left")
	})
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
	completed, failed := p.serve(t, ctx, 10, 5)
	require.Equal(t, 50, completed+failed)
	require.Positive(t, completed)
	for n, times := range p.books.n {
		require.Equal(t, 1, times, "order %d", n)
	}
	require.GreaterOrEqual(t, len(p.books.n), completed)
}
