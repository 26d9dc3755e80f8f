package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// first is the input of the runs in these tests.
var first = agent.Input{Session: "s", Key: "first", Prompt: "Pay."}

// An env is the SDK's test environment of one workflow execution. It counts what the history would
// have. The test environment doesn't count events, so the published numbers are used: 3 of an
// activity (scheduled, started, completed), 2 of a timer (started; fired or canceled), 1 of a
// signal, and 3 of the workflow task that follows each.
type env struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T

	legs, timers, signals int
	counting              *counting
}

// newEnv returns the environment of a workflow whose activity is do.
func newEnv(t *testing.T, do func(context.Context, legArgs) (progress, error)) *env {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	e := &env{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t,
		counting: &counting{DataConverter: converter.GetDefaultDataConverter()}}
	e.SetTestTimeout(1000 * time.Hour) // of the bubble's time, which calls take
	e.SetDataConverter(e.counting)
	e.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: ID("s"), TaskQueue: "agents"})
	e.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: workflowName})
	e.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: legName})
	e.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { e.legs++ })
	e.SetOnTimerScheduledListener(func(string, time.Duration) { e.timers++ })
	return e
}

// run runs the workflow of an input.
func (e *env) run(in agent.Input, leg agent.Leg) (Ended, error) {
	r, err := NewRun("clerk", in, leg)
	require.NoError(e.t, err)
	return e.runAgain(r)
}

func (e *env) runAgain(r Run) (out Ended, err error) {
	e.ExecuteWorkflow(workflowName, r)
	require.True(e.t, e.IsWorkflowCompleted())
	if err := e.GetWorkflowError(); err != nil {
		return Ended{}, err
	}
	require.NoError(e.t, e.GetWorkflowResult(&out))
	return out, nil
}

// events returns how many events the history has at most, and bytes its size with 150 bytes for
// what an event has besides payloads.
func (e *env) events() int { return 1 + 3 + 1 + 6*e.legs + 5*e.timers + 4*e.signals }
func (e *env) bytes() int  { return e.counting.n() + 150*e.events() }

// A counting data converter counts the bytes of all payloads.
type counting struct {
	converter.DataConverter

	mu    sync.Mutex
	bytes int
}

func (c *counting) n() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *counting) ToPayload(v any) (*commonpb.Payload, error) {
	p, err := c.DataConverter.ToPayload(v)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(p.GetData()) + 40 // its encoding is in its metadata
	return p, err
}

func (c *counting) ToPayloads(v ...any) (*commonpb.Payloads, error) {
	list, err := c.DataConverter.ToPayloads(v...)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list.GetPayloads() {
		c.bytes += len(p.GetData()) + 40
	}
	return list, err
}

// A caller is a client of the test environment.
type caller struct {
	client.Client
	e *env
}

func (c caller) SignalWorkflow(_ context.Context, id, _, name string, value any) error {
	require.Equal(c.e.t, ID("s"), id)
	c.e.signals++
	c.e.SignalWorkflow(name, value)
	return nil
}

func (c caller) CancelWorkflow(_ context.Context, id, _ string) error {
	require.Equal(c.e.t, ID("s"), id)
	c.e.CancelWorkflow()
	return nil
}

// decide decides on what session "s" waits for.
func (e *env) decide(a *agent.Agent, d agent.Decision) {
	require.NoError(e.t, Decided(context.Background(), caller{e: e}, a.Session("s"), d))
}

// decides decides on all that the session waits for, each half a minute of the workflow's time. A
// call in doubt is answered by what has happened.
func (w *world) decides(e *env, a *agent.Agent) {
	var look func()
	look = func() {
		pending, err := a.Session("s").Pending(context.Background())
		require.NoError(e.t, err)
		for i := range pending {
			e.decide(a, w.decision(&pending[i]))
		}
		if !e.IsWorkflowCompleted() {
			e.RegisterDelayedCallback(look, 30*time.Second)
		}
	}
	e.RegisterDelayedCallback(look, 30*time.Second)
}

// A world has the store that the workers share, and the effects of their tools.
type world struct {
	store journal.Store

	mu     sync.Mutex // guards what follows
	paid   map[string]int
	points int
	at     int    // the point at which stop is called; 0: none
	stop   func() // what happens there
	kills  int    // how many workers were killed
	asked  int    // the bytes of the largest conversation that the model was sent
}

func newWorld() *world { return &world{store: &journal.MapStore{}, paid: make(map[string]int)} }

// point is a point within a leg: before and after appends, and before and after effects.
func (w *world) point() {
	w.mu.Lock()
	w.points++
	stop := w.stop
	now := w.points == w.at
	w.mu.Unlock()
	if now {
		stop()
	}
}

// next sets how many points from now stop is called.
func (w *world) next(points int, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.points, w.at, w.stop = 0, points, stop
}

// each fails the test if an effect didn't happen just once.
func (w *world) each(t *testing.T, effects int) {
	require.Len(t, w.paid, effects)
	for call, n := range w.paid {
		require.Equal(t, 1, n, call)
	}
}

// decision approves a call, or says what came of a call in doubt.
func (w *world) decision(p *agent.Pause) agent.Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case p.Kind != agent.PauseInDoubt:
		return agent.Approve(p.ID)
	case w.paid[string(p.Call.Input)] > 0:
		return agent.Answer(p.ID, "paid")
	}
	return agent.Approve(p.ID) // it didn't happen: it runs
}

// A process has a handle on the store, with points.
type process struct {
	journal.Store
	w    *world
	dead bool // guarded by w.mu
}

var errKilled = journal.Unusable("the worker was killed")

func (p *process) alive() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.dead {
		return errKilled
	}
	return nil
}

func (p *process) Append(ctx context.Context, a journal.Append) error {
	p.w.point()
	if err := p.alive(); err != nil {
		return err
	}
	defer p.w.point()
	return p.Store.Append(ctx, a)
}

func (p *process) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := p.alive(); err != nil {
		return journal.Lease{}, err
	}
	return p.Store.Renew(ctx, l, ttl)
}

func (p *process) Release(ctx context.Context, l journal.Lease) error {
	if err := p.alive(); err != nil {
		return err
	}
	return p.Store.Release(ctx, l)
}

// kill ends the process as SIGKILL does.
func (p *process) kill() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.dead = true
	p.w.kills++
}

// An order is the input of the tools.
type order struct {
	N int `json:"n"`
}

// pay has an effect in the middle of a second.
func (p *process) pay(ctx context.Context, in order) (string, error) {
	p.w.point()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-time.After(500 * time.Millisecond):
	}
	if err := p.alive(); err != nil {
		return "", err
	}
	p.w.mu.Lock()
	p.w.paid[fmt.Sprintf(`{"n":%d}`, in.N)]++
	p.w.mu.Unlock()
	p.w.point()
	<-time.After(500 * time.Millisecond)
	return fmt.Sprint("paid ", in.N), nil
}

// A step is what the model asks for in one reply, by the number of replies so far.
type step func(n int) *provider.Response

// pays calls a tool n times, one call a step, and then ends.
func pays(tool string, n int) step {
	return func(at int) *provider.Response {
		if at < n {
			return providertest.Calls(providertest.CallSpec{Tool: tool, Input: order{at}}).Response()
		}
		return providertest.Say("All paid.").Response()
	}
}

// worker returns a worker's process and its agent. The model knows the step by the conversation.
func (w *world) worker(t *testing.T, reply step, more ...tools.Tool) (*process, *agent.Agent) {
	p := &process{Store: w.store, w: w}
	a, err := agent.New(agent.Config{Name: "clerk", Journal: p, Lease: 2 * time.Second,
		Logger: slog.New(slog.DiscardHandler), Limits: agent.Limits{Steps: 2000, Duration: 24 * time.Hour},
		Tools: append(more, tools.New(tools.Spec{Name: "pay"}, p.pay),
			tools.New(tools.Spec{Name: "transfer", Risk: tools.High}, p.pay)),
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			at, bytes := 0, 0
			for i := range req.Messages {
				if req.Messages[i].Role == provider.RoleAssistant {
					at++
				}
				for _, part := range req.Messages[i].Parts {
					bytes += len(part.Result.Text())
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.asked = max(w.asked, bytes)
			return reply(at), nil
		})})
	require.NoError(t, err)
	return p, a
}

// of returns the legs of one agent.
func of(a *agent.Agent) legs { return legs{"clerk": a} }

// text returns the answer of the run in session "s".
func text(t *testing.T, a *agent.Agent) string {
	res, err := a.Session("s").Result(context.Background())
	require.NoError(t, err)
	require.NoError(t, res.Err())
	return res.Text()
}

// pauses returns how often the run paused with a code.
func pauses(t *testing.T, a *agent.Agent, code string) (n int) {
	facts, err := a.Session("s").Facts(context.Background())
	require.NoError(t, err)
	for _, f := range facts {
		if end, ok := f.(*agent.RunEnded); ok && end.Status == agent.Paused && end.Code == code {
			n++
		}
	}
	return n
}

// workersThatDie returns an activity whose worker is another process each time. The first n are
// killed at a random point, and are silent until Temporal gives them up.
func (w *world) workersThatDie(t *testing.T, n int, random *rand.Rand, reply step) func(context.Context,
	legArgs) (progress, error) {
	return func(ctx context.Context, args legArgs) (progress, error) {
		p, a := w.worker(t, reply)
		if n--; n < 0 {
			out, err := of(a).do(ctx, args)
			time.Sleep(out.After) // the clock of leases isn't that of the test environment
			return out, err
		}
		leg, cut := context.WithCancel(ctx)
		defer cut()
		w.next(1+random.IntN(12), func() {
			p.kill()
			cut()
		})
		args.Grace = time.Nanosecond
		out, err := of(a).do(leg, args)
		w.next(0, nil)
		if p.alive() == nil { // the leg was over before
			return out, err
		}
		time.Sleep(2 * heartbeat)
		return progress{}, errors.New("the caller has gone")
	}
}

// endedCode returns the status and the code of the run in session "s".
func endedCode(t *testing.T, a *agent.Agent) (agent.Status, string) {
	res, err := a.Session("s").Result(context.Background())
	require.NoError(t, err)
	return res.Status, res.Code
}

// slow returns a tool that takes some time and respects its context.
func slow(d time.Duration) tools.Tool {
	return tools.New(tools.Spec{Name: "slow", Timeout: 2 * d}, func(ctx context.Context, _ order) (string, error) {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(d):
		}
		return "done", nil
	})
}
