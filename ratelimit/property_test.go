package ratelimit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
)

var schedules = flag.Int("schedules", 200, "how many random schedules the gate is tested with")

// A client is one call of a schedule. It only follows orders: it doesn't end by itself when it is
// preempted.
type client struct {
	call   *modelCall
	cancel context.CancelFunc
	orders chan order

	mu    sync.Mutex // guards what follows
	state string     // waiting, running, over
	lease Lease
	err   error
	told  Delay
}

type order struct {
	again   bool
	outcome Outcome
}

func (c *client) set(state string, l Lease, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.lease, c.err = state, l, err
}

func (c *client) get() (state string, l Lease, told Delay, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.lease, c.told, c.err
}

func (c *client) run(ctx context.Context, g *Gate) {
	t := c.call.req
	t.OnWait = func(w Delay) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = w
	}
	l, err := g.Acquire(ctx, t)
	for err == nil {
		c.set("running", l, nil)
		o := <-c.orders
		if !o.again {
			l.Release(o.outcome)
			l.Release(o.outcome) // harmless
			l.Began()
			break
		}
		c.set("waiting", Lease{}, nil)
		ended := l
		l, err = l.Requeue(ctx, o.outcome)
		ended.Began() // harmless
	}
	c.set("over", Lease{}, err)
}

// A schedule is a random sequence of events against a gate and its model.
type schedule struct {
	t       *testing.T
	r       *rand.Rand
	gate    *Gate
	model   *model
	rated   bool // with rates, which the model doesn't have, only the invariants are checked
	eager   bool // preempted calls end at once
	clients []*client
	resumes []func()
	gone    sync.WaitGroup
	log     []string

	mu     sync.Mutex
	events []Event

	startsBefore uint64
	peopleBefore int // interactive requests that waited
	preempted    int64
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	s := &schedule{t: t, r: rand.New(rand.NewPCG(seed, 4)), eager: seed%3 == 0}
	cfg := GateConfig{Name: "g", Slots: 1 + s.r.IntN(6), Overcommit: s.r.IntN(8) == 0, Queue: 3 + s.r.IntN(30),
		MaxRetryAfter: time.Minute}
	if seed%4 == 1 { // room for background calls beside interactive ones
		cfg.Slots += 6
	}
	cfg.ReservedShare = []float64{0, 0, -1, 0.5}[s.r.IntN(4)]
	if s.rated = s.r.IntN(4) == 0; s.rated {
		cfg.RequestsPerMinute, cfg.TokensPerMinute = int64(s.r.IntN(40)), int64(s.r.IntN(4000))
		cfg.Burst = []float64{0, 0.01, 1}[s.r.IntN(3)]
	}
	cfg.OnEvent = func(e Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
	}
	s.gate = NewGate(cfg)
	s.gate.delays = backoff.Delays{Min: time.Second, Max: 5 * time.Minute}
	s.model = &model{slots: cfg.Slots, kept: s.gate.reserved, queue: cfg.Queue, overcommit: cfg.Overcommit,
		patience: cfg.MaxRetryAfter,
		now:      time.Now(), ring: map[int][]string{}}
	s.note("%+v", s.gate.cfg)
	return s
}

func (s *schedule) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *schedule) fail(format string, args ...any) {
	s.t.Helper()
	for _, line := range s.log {
		s.t.Log(line)
	}
	s.gate.Close()
	for _, c := range s.clients {
		close(c.orders) // running calls end
	}
	s.t.Fatalf(format, args...)
}

// pick returns a random client in that state.
func (s *schedule) pick(state string) *client {
	var in []*client
	for _, c := range s.clients {
		if now, _, _, _ := c.get(); now == state {
			in = append(in, c)
		}
	}
	if len(in) == 0 {
		return nil
	}
	return in[s.r.IntN(len(in))]
}

func (s *schedule) arrive() {
	t := AcquireRequest{
		Interactive: s.r.IntN(3) == 0,
		Priority:    []int{0, Planning, Execution, Validation, Background, 200, -3}[s.r.IntN(7)],
		Session:     fmt.Sprint("s", s.r.IntN(3)),
		NoPreempt:   s.r.IntN(6) == 0,
		Tokens:      int64(s.r.IntN(2000)),
	}
	c := &client{call: &modelCall{id: len(s.clients), req: t, rank: int(rank(t.Priority))}, orders: make(chan order),
		state: "waiting"}
	s.note("%d arrives: interactive %v, priority %d, session %s, no preemption %v", c.call.id, t.Interactive,
		t.Priority, t.Session, t.NoPreempt)
	s.clients = append(s.clients, c)
	ctx, cancel := context.WithCancel(s.t.Context())
	c.cancel = cancel
	s.model.arrive(c.call)
	s.gone.Go(func() { c.run(ctx, s.gate) })
}

func (s *schedule) end(c *client, again bool) {
	s.endAs(c, again,
		[]string{"success", "neither", "success", "success", "success", "limited", "success", "success"}[s.r.IntN(8)])
}

func (s *schedule) endAs(c *client, again bool, how string) {
	advice := time.Duration(0)
	o := Outcome{Tokens: int64(s.r.IntN(3000)) - 1}
	switch how {
	case "limited":
		o.Err = fault.New(fault.RateLimited, "slow down")
		if s.r.IntN(3) == 0 {
			advice = time.Duration(1 + s.r.Int64N(int64(10*time.Second)))
			if s.r.IntN(8) == 0 {
				advice += time.Minute
			}
			o.Err = fault.WithRetryAfter(o.Err, advice)
		}
	case "neither":
		o.Err = context.Canceled
	}
	s.note("%d ends: again %v, %s, advice %v", c.call.id, again, how, advice)
	if again {
		s.model.again(c.call, how, advice)
	} else {
		s.model.release(c.call, how, advice)
	}
	c.orders <- order{again, o}
}

func (s *schedule) step() {
	switch n := s.r.IntN(25); {
	case n < 7:
		s.arrive()
	case n < 11:
		if c := s.pick("running"); c != nil {
			s.end(c, s.r.IntN(4) == 0)
		}
	case n < 13:
		s.letGo()
	case n < 14:
		if c := s.pick("waiting"); c != nil {
			s.note("%d leaves", c.call.id)
			s.model.over(c.call, "left")
			c.cancel()
			synctest.Wait()
			s.model.dispatch()
		}
	case n < 15:
		if c := s.pick("running"); c != nil {
			_, l, _, _ := c.get()
			s.note("%d is pinned", c.call.id)
			if pinned := l.Pin(); !s.rated && pinned != (c.call.state == "running") {
				s.fail("pinned %v while %s", pinned, c.call.state)
			}
			c.call.pinned = true
		}
	case n < 16:
		if len(s.resumes) > 0 && s.r.IntN(4) != 0 {
			s.note("a background pause ends")
			s.model.hostPauses--
			s.model.dispatch()
			resume := s.resumes[0]
			s.resumes = s.resumes[1:]
			resume()
			resume() // harmless
		} else {
			s.note("a background pause")
			s.model.hostPauses++
			s.resumes = append(s.resumes, s.gate.PauseBackground("memory"))
		}
	case n < 18:
		if c := s.pick("running"); c != nil {
			_, l, _, _ := c.get()
			s.note("the answer of %d begins", c.call.id)
			s.model.began(c.call)
			l.Began()
		}
	case n < 19: // interactive calls start again after a rate limit
		if c := s.pick("running"); c != nil && c.call.req.Interactive {
			s.endAs(c, true, "limited")
			if d := s.model.pausedUntil.Sub(s.model.now); d > 0 {
				s.pass(d)
			}
		}
	case n < 20:
		switch {
		case !s.model.paused():
			d := time.Duration(1 + s.r.Int64N(int64(10*time.Second)))
			s.note("the host pauses all for %v", d)
			s.model.pause(d, true)
			s.gate.Pause(d)
		case s.r.IntN(2) == 0:
			s.note("the host ends the pause")
			s.model.unpause()
			s.model.dispatch()
			s.gate.Resume()
		}
	default:
		s.pass(time.Duration(1 + s.r.Int64N(int64(3*time.Second))))
	}
}

func (s *schedule) pass(d time.Duration) {
	s.note("%v pass", d)
	<-time.After(d)
	s.model.pass(d)
}

// letGo ends a preempted call, and reports whether there was one.
func (s *schedule) letGo() bool {
	for _, c := range s.clients {
		if state, l, _, _ := c.get(); state == "running" && l.Preempted() {
			s.end(c, true)
			return true
		}
	}
	return false
}

// check compares the gate with its invariants and with the model.
func (s *schedule) check() {
	s.t.Helper()
	synctest.Wait()
	g, m := s.gate, s.model
	snap := g.Snapshot()
	people, started := 0, 0
	for _, c := range s.clients {
		state, l, told, err := c.get()
		switch {
		case state == "waiting" && c.call.req.Interactive:
			people++
		case state == "running" && !c.call.req.Interactive && l.slot.started > s.startsBefore:
			started++
		}
		if s.rated {
			continue
		}
		want := c.call.state
		switch want {
		case "waiting", "over":
		case "running":
			if l.Preempted() || l.Context().Err() != nil {
				s.fail("call %d was preempted", c.call.id)
			}
		default:
			if cause := context.Cause(l.Context()); !l.Preempted() || cause != ErrPreempted {
				s.fail("call %d is %s, but wasn't preempted: %v", c.call.id, want, cause)
			}
			want = "running"
		}
		if state != want {
			s.fail("call %d is %s (%v), not %s", c.call.id, state, err, c.call.state)
		}
		if state == "running" && l.slot.started != uint64(c.call.started) {
			s.fail("call %d started as the %dth, not the %dth", c.call.id, l.slot.started, c.call.started)
		}
		s.checkError(c, err)
		if state == "waiting" {
			s.checkWait(c, told)
		}
	}
	switch newly := snap.Totals.Preempted - s.preempted; {
	case people > 0 && started > 0:
		s.fail("%d background calls started while %d people were waiting", started, people)
	case newly > 0 && snap.Running < snap.Slots:
		s.fail("%d calls were preempted with %d of %d slots taken", newly, snap.Running, snap.Slots)
	case !g.cfg.Overcommit && int(newly) > max(people, s.peopleBefore):
		s.fail("%d calls were preempted for %d people", newly, people)
	case !g.cfg.Overcommit && snap.Running > snap.Slots+snap.Overtaken:
		s.fail("%d calls run in %d slots", snap.Running, snap.Slots)
	case snap.Running-snap.Lanes[0].Running > snap.Slots-snap.Reserved:
		s.fail("background calls use slots that are kept for people")
	}
	s.startsBefore, s.preempted = uint64(snap.Totals.Started), snap.Totals.Preempted
	s.peopleBefore = people
	if s.rated {
		return
	}
	queued, running := len(m.in("waiting")), len(m.in(holds...))
	if snap.Queued != queued || snap.Running != running || snap.Preempted != len(m.in("leaving")) ||
		snap.Overtaken != len(m.in("overtaken")) {
		s.fail("%d queued, %d running, not %d and %d: %+v", snap.Queued, snap.Running, queued, running, snap)
	}
	if !snap.PausedUntil.Equal(m.pausedUntil) || snap.Step != m.step {
		s.fail("paused until %v, step %d, not %v, %d", snap.PausedUntil, snap.Step, m.pausedUntil, m.step)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if paused, resumed := s.count(EventPaused), s.count(EventResumed); paused != m.pauses || resumed != m.resumes {
		s.fail("%d pauses and %d ends of them, not %d and %d", paused, resumed, m.pauses, m.resumes)
	}
}

func (s *schedule) count(kind EventKind) (n int) {
	for _, e := range s.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (s *schedule) checkError(c *client, err error) {
	s.t.Helper()
	var full *QueueFullError
	var long *PauseTooLongError
	ok := true
	switch c.call.err {
	case "full":
		ok = errors.As(err, &full)
	case "long":
		ok = errors.As(err, &long)
	case "left":
		ok = errors.Is(err, context.Canceled)
	case "":
		ok = err == nil
	}
	if !ok {
		s.fail("call %d ended with %v, not with %q", c.call.id, err, c.call.err)
	}
}

func (s *schedule) checkWait(c *client, told Delay) {
	s.t.Helper()
	want := Delay{Reason: DelayQueue}
	switch m := s.model; {
	case m.paused():
		want = Delay{Reason: DelayRateLimit, Until: m.pausedUntil}
	case m.hostPauses > 0 && !c.call.req.Interactive:
		want = Delay{Reason: DelayPaused, Detail: "memory"}
	case m.onTrial(c.call):
		want = Delay{Reason: DelayQueue, Until: m.trialEnd}
	}
	if !told.same(want) {
		s.fail("call %d was told %+v, not %+v", c.call.id, told, want)
	}
}

// finish ends all calls, by closing the gate or by letting every call run.
func (s *schedule) finish() {
	if s.r.IntN(2) == 0 {
		s.note("close")
		s.gate.Close()
		synctest.Wait()
		for _, c := range s.clients {
			switch state, l, _, err := c.get(); state {
			case "waiting":
				s.fail("call %d still waits at a closed gate", c.call.id)
			case "running":
				if l.Context().Err() == nil {
					s.fail("call %d runs on in a closed gate", c.call.id)
				}
				c.orders <- order{again: s.r.IntN(2) == 0}
			default:
				if c.call.state == "waiting" && !s.rated && !errors.Is(err, ErrClosed) {
					s.fail("call %d ended with %v", c.call.id, err)
				}
			}
		}
	} else {
		s.note("run dry")
		for _, resume := range s.resumes {
			resume()
		}
		for round := 0; ; round++ {
			synctest.Wait()
			open := 0
			for _, c := range s.clients {
				switch state, _, _, _ := c.get(); state {
				case "running":
					open++
					c.orders <- order{outcome: Outcome{Tokens: 1}} // 0 would keep the estimate
				case "waiting":
					open++
				}
			}
			if open == 0 {
				break
			}
			if round > 2000 {
				s.fail("%d calls never end: %+v", open, s.gate.Snapshot())
			}
			<-time.After(time.Minute)
		}
	}
	s.gone.Wait()
	if snap := s.gate.Snapshot(); snap.Queued != 0 || snap.Running != 0 || snap.Preempted != 0 || snap.Overtaken != 0 ||
		s.gate.calls.victim() != nil {
		s.fail("something is left: %+v", snap)
	}
	for _, c := range s.clients {
		c.cancel()
	}
}

// TestTheGateDoesWhatItsModelDoes runs random schedules of arrivals, cancellations, preemptions,
// slow releases, rate limits and pauses against a gate, and checks the invariants after each event.
func TestTheGateMatchesItsModel(t *testing.T) {
	var all Totals
	var proofs, trials int
	for seed := range uint64(*schedules) {
		synctest.Test(t, func(t *testing.T) {
			s := newSchedule(t, seed)
			s.note("seed %d", seed)
			for range 40 + s.r.IntN(80) {
				s.step()
				s.check()
				for s.eager && s.letGo() {
					s.check()
				}
			}
			s.finish()
			all.add(s.gate.Snapshot().Totals)
			if !s.rated {
				proofs, trials = proofs+s.model.proofs, trials+s.model.trials
			}
		})
		if t.Failed() {
			return
		}
	}
	// All events must occur in the test.
	t.Logf("%+v, %d proofs, %d trials", all, proofs, trials)
	for what, n := range map[string]int64{
		"starts": all.Started, "preemptions": all.Preempted, "overtaken calls": all.Overtaken,
		"rate limits": all.RateLimited,
		"pauses":      all.Pauses, "refusals": all.Rejected, "cancellations": all.Abandoned,
	} {
		require.Greater(t, n, int64(*schedules/20), what)
	}
	require.Greater(t, proofs, *schedules/100, "answers that let background work start")
	require.Greater(t, trials, *schedules/100, "trials that do")
}

func (t *Totals) add(o Totals) {
	t.Started += o.Started
	t.Preempted += o.Preempted
	t.Overtaken += o.Overtaken
	t.RateLimited += o.RateLimited
	t.Pauses += o.Pauses
	t.Rejected += o.Rejected
	t.Abandoned += o.Abandoned
}

// TestTheQueueIsInOrderByItself tests the background lane without a gate.
func TestTheQueueIsInOrderByItself(t *testing.T) {
	var b backlog
	arrive := func(seq uint64, priority int, session string) *waiter {
		w := &waiter{arrival: arrival{seq: seq, rank: rank(priority), req: AcquireRequest{Session: session}}}
		b.push(w)
		return w
	}
	arrive(1, 40, "a")
	arrive(2, 40, "a")
	arrive(3, 40, "b")
	left := arrive(4, 40, "c")
	arrive(5, 40, "b")
	arrive(6, 255, "z")
	back := &waiter{arrival: arrival{seq: 0, rank: 40, req: AcquireRequest{Session: "b"}}, returned: true}
	b.push(back)
	b.remove(left, false)
	require.Equal(t, 6, b.ahead(40))
	require.Equal(t, 1, b.ahead(41))
	var got []uint64
	for w := b.next(); w != nil; w = b.next() {
		b.remove(w, true)
		got = append(got, w.seq)
	}
	require.Equal(t, []uint64{6, 0, 1, 3, 2, 5}, got)
	require.Zero(t, b.n)
	require.Empty(t, b.level(40).sessions)
	require.Len(t, b.levels, 2)
}
