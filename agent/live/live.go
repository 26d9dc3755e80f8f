package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Config configures a [Hub]. Only Agent is required.
type Config struct {
	// Agent runs the inputs. [Hub.Close] drains it, so it can't be used afterwards. Give it a
	// Config.Journal if runs are to survive the process.
	Agent *agent.Agent
	// Recover is the time between two searches for sessions to resume; 0: 10 s. A negative time
	// turns them off: then the hub resumes a session only when a decision is made with it, or when
	// a run of its own has lost its lease. At most 100 sessions are resumed at a time. One that
	// fails again and again is tried less often, down to once in 16 to 24 times Recover, or once in
	// 7.5 minutes.
	Recover time.Duration
	// Drain is how long Close waits for runs to come to a safe point; 0: 30 s.
	Drain time.Duration
	// Address is where other processes reach the server of this hub: a scheme and a host, such as
	// "http://10.0.0.7:8080". Readers who come to another process then get the text of a model call
	// in progress, too: package agent/serve passes their requests on to this one. Empty: they get
	// the facts alone, and so the text when it is complete.
	Address string
	// Bus carries the text of model calls in progress to the readers of other hubs, where processes
	// can't reach each other by an Address. All hubs of the store have the same bus. Nil: none.
	Bus    Bus
	Logger *slog.Logger // nil: nothing is logged
	// Deliver is called at least once for each decision, pause and end of a run in all sessions of
	// the journal, whichever process or agent ran them: for mail, and for an audit that must not
	// miss one. It is called for facts that are newer than the first hub with a Deliver; the
	// journal keeps how far it has come. One process at a time calls it. When that process ends,
	// another one goes on within 10 s, and within 55 s after a crash. Give all hubs of a journal
	// the same function.
	//
	// After Deliver has returned nil for a fact, it is called for it again only after a crash. The
	// session and the fact's number say whether it was called before. After an error or a panic the
	// same fact is tried again after 1 s, then after twice as long each time, up to 5 minutes, and
	// the later facts of its session wait. Other sessions go on, until 100 sessions wait. A call
	// has 30 s. It must return soon after the end of its context, because [Hub.Close] waits for it.
	//
	// It is called about a second after the fact is stored, and in order within a session. It isn't
	// called for sessions that are deleted before, for facts that are pruned before, and for the
	// logs of other packages, such as agent/plan. Forks and imports count as sessions of their own.
	Deliver func(ctx context.Context, d Delivery) error
}

const (
	defaultRecover = 10 * time.Second
	defaultDrain   = 30 * time.Second
	atATime        = 100 // sessions that are resumed
)

// ErrClosed is the error for inputs and readers after [Hub.Close] was called. Another process may
// accept them.
var ErrClosed = fault.New(fault.Transient, "live: the hub is closed; another process may continue")

var errGoexit = fault.New(fault.Permanent, "live: a function of the host ended the goroutine of the run before it began")

var errNoHub = &agent.ArgError{Field: "Config.Agent", Problem: "this Hub is nil or empty; make one with live.New"}

// A Hub runs an agent for readers that come and go. Make one with [New], and close it. It is safe
// for concurrent use.
type Hub struct {
	cfg Config // fixed at creation

	runs    context.Context         // of all runs
	end     context.CancelCauseFunc // ends runs
	closed  context.Context         // ends when the readers' time is over
	leave   context.CancelCauseFunc
	stopped chan struct{} // closed when Close begins

	undeliver context.CancelCauseFunc // ends the delivery

	work sync.WaitGroup // runs that were started, and the delivery
	due  *due.Loop      // resumes sessions

	subscribed sync.WaitGroup // to the bus

	mu      sync.Mutex // guards what follows
	topics  map[string]*topic
	unread  map[string]chan struct{} // by session, of the newest text that was sent: see queue
	closing bool
}

// New returns a hub, which begins at once to look for sessions to resume. The error is a
// *[agent.ArgError].
func New(cfg Config) (*Hub, error) {
	if cfg.Agent.Tools() == nil {
		return nil, &agent.ArgError{Func: "live.New", Field: "Config.Agent",
			Problem: "it is nil or empty; make one with agent.New"}
	}
	if cfg.Drain < 0 {
		return nil, &agent.ArgError{Func: "live.New", Field: "Config.Drain",
			Problem: fmt.Sprintf("it is %v; give a time, or 0 for %v", cfg.Drain, defaultDrain)}
	}
	if err := checkAddress(cfg.Address); err != nil {
		return nil, err
	}
	cfg.Recover, cfg.Drain = cmp.Or(cfg.Recover, defaultRecover), cmp.Or(cfg.Drain, defaultDrain)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hub{cfg: cfg, stopped: make(chan struct{}), topics: make(map[string]*topic),
		unread: make(map[string]chan struct{}), undeliver: func(error) {}}
	h.runs, h.end = context.WithCancelCause(context.Background())
	h.closed, h.leave = context.WithCancelCause(context.Background())
	list := func(ctx context.Context) iter.Seq2[due.Item, error] {
		return due.Sessions(ctx, cfg.Agent.Journal(), "")
	}
	h.due = due.New(due.Config{List: list, Drive: h.resume, Interval: cfg.Recover, Parallel: atATime,
		Logger: cfg.Logger})
	if cfg.Recover > 0 {
		h.due.Start(h.runs)
	}
	if cfg.Deliver != nil {
		ctx, cancel := context.WithCancelCause(h.runs)
		h.undeliver = cancel
		// if this fails, deliveries begin when the store answers
		limited, stop := context.WithTimeout(ctx, beginTime)
		_, now, _ := journal.Changes(limited, cfg.Agent.Journal(), journal.Newest)
		stop()
		h.work.Go(func() { h.deliver(ctx, now) })
	}
	return h, nil
}

// A Started is a run that [Hub.Start] has started or resumed.
type Started struct {
	Session string
	Run     string
	// After is the number of the session's last fact before the run was started or resumed:
	// [Hub.Watch] with it shows everything from then on.
	After uint64
	// Done is closed when the run has ended or paused.
	Done <-chan struct{}
}

// Start starts or resumes a run: see [agent.Agent.Stream]. It returns when the first fact of the
// run is stored, or an error if nothing was started. ctx limits the start, not the run; the run has
// its values. The work must name a session, because readers find the run by that name.
//
// A session that is held without a run in progress is waited for, as by [agent.Agent.Run], before
// the error is [agent.ErrBusy]. If the work would supersede a run for which a decision was
// accepted, the hub continues that run with the decision first.
func (h *Hub) Start(ctx context.Context, w agent.Work) (started Started, err error) {
	if h == nil || h.topics == nil {
		return Started{}, errNoHub
	}
	switch w.(type) {
	case agent.Input, agent.HostCall, agent.Resumption:
	default:
		return Started{}, &agent.ArgError{Func: "live.Start", Field: "Work",
			Problem: fmt.Sprintf("it is %T; give a value of Input, Resumption or HostCall", w)}
	}
	name := w.SessionName()
	if name == "" {
		return Started{}, &agent.ArgError{Func: "live.Start", Field: "Session",
			Problem: "it is empty; readers find a run by the name of its session"}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return Started{}, context.Cause(ctx)
	}
	started, err = h.start(ctx, w, name)
	decided := errors.Is(err, agent.ErrBusy) && errors.As(err, new(*agent.DecisionError))
	if decided && !resumes(w) { // and nobody has taken that yet
		if _, err = h.start(ctx, agent.Continue(name), name); err == nil {
			started, err = h.start(ctx, w, name)
		}
	}
	return started, err
}

// resumes reports whether work continues a run.
func resumes(w agent.Work) bool {
	_, ok := w.(agent.Resumption)
	return ok
}

// start starts or resumes a run of a session.
func (h *Hub) start(ctx context.Context, w agent.Work, name string) (Started, error) {
	own, cancel := context.WithCancelCause(session.WithAddress(context.WithoutCancel(ctx), h.cfg.Address))
	begun := make(chan outcome, 1)
	if !h.begin(func() { h.drive(own, cancel, w, name, begun) }) {
		cancel(nil)
		return Started{}, ErrClosed
	}
	select {
	case s := <-begun:
		return s.started, s.err
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		return Started{}, context.Cause(ctx)
	}
}

// begin runs f on a goroutine of the hub, unless the hub is closed.
func (h *Hub) begin(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closing {
		h.work.Go(f)
	}
	return !h.closing
}

// An outcome is how a start has ended.
type outcome struct {
	started Started
	err     error
}

// drive does work in a session and publishes its events.
func (h *Hub) drive(ctx context.Context, cancel context.CancelCauseFunc, w agent.Work, name string,
	begun chan<- outcome) {
	defer cancel(nil)
	defer context.AfterFunc(h.runs, func() { cancel(context.Cause(h.runs)) })()
	done := make(chan struct{})
	defer close(done)
	started, waiting := Started{Session: name, Done: done}, true
	defer func() {
		if waiting { // a function of the host has ended this goroutine
			begun <- outcome{err: errGoexit}
		}
	}()
	shown, ended, paused, open := false, false, false, false
	defer func() {
		if shown && !ended {
			h.over(name)
		}
		if paused {
			h.lookAgain(ctx, name)
		}
		if open {
			h.poke(name)
		}
	}()
	for ev, err := range h.cfg.Agent.Stream(ctx, w) {
		if err != nil {
			if waiting {
				waiting = false
				begun <- outcome{err: err}
			}
			return // the events before it say how the run ended
		}
		h.publish(name, ev)
		shown = true
		meta := ev.Envelope()
		if end, ok := ev.(*agent.RunEnded); ok && meta.Session() == name {
			ended, paused = true, end.Status == agent.Paused
			open = end.Code == machine.CodeJournal // its lease was lost, for example because the machine slept
		}
		if !waiting || meta.Seq == 0 || meta.Session() != name { // a note may come before the first fact
			continue
		}
		if started.Run == "" {
			started.After = meta.Seq - 1
		}
		started.Run = meta.Run()
		if _, begins := ev.(*agent.RunStarted); begins || resumes(w) { // else it is the end of the run before
			waiting = false
			begun <- outcome{started: started}
		}
	}
}

// over ends the topic of a run that has ended without an event, because a function of the host has
// ended its goroutine.
func (h *Hub) over(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topic(session)
	t.mu.Lock()
	if t.driven && !t.remote {
		t.finish()
		t.moved.Broadcast()
	}
	t.mu.Unlock()
	h.forget(t)
}

// lookAgain has a session resumed that has paused, if a decision was posted to it after its run had
// looked for decisions for the last time.
func (h *Hub) lookAgain(ctx context.Context, session string) {
	head, err := h.cfg.Agent.Journal().Head(ctx, session)
	if err == nil && head.Inbox > 0 {
		h.poke(session)
	}
}

// publish shows an event of a run in a session to the readers of the session.
func (h *Hub) publish(session string, ev agent.Event) {
	h.mu.Lock()
	t := h.topic(session)
	h.mu.Unlock()
	first, last := t.publish(ev)
	if first && h.cfg.Bus != nil {
		h.work.Go(func() { h.publishRun(t) })
	}
	if !last {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(t)
}

// topic returns the topic of a session. The caller holds mu.
func (h *Hub) topic(session string) *topic {
	t := h.topics[session]
	if t == nil {
		t = newTopic(session)
		h.topics[session] = t
	}
	return t
}

// forget removes a topic that nobody uses. The caller holds mu.
func (h *Hub) forget(t *topic) {
	if t.unused() {
		delete(h.topics, t.session)
	}
}

// resume resumes a session that is due.
func (h *Hub) resume(ctx context.Context, name string) (err error) {
	ctx = session.WithAddress(ctx, h.cfg.Address)
	n, _ := h.cfg.Agent.Recover(ctx, agent.Recovery{Session: name, Event: h.publish,
		Each: func(r agent.Recovered) { err = r.Err }})
	if n == 0 {
		return due.ErrLater
	}
	return err
}

// A hub that doesn't search for sessions tries to resume one after pokeFirst, then after twice
// that, up to pokeMost, until the session has had no new fact for pokeTime.
const (
	pokeFirst = 10 * time.Millisecond
	pokeMost  = 10 * time.Second
	pokeTime  = time.Minute
)

// poke has a session resumed that something was posted to, or whose run was left open, if nobody
// drives it.
func (h *Hub) poke(session string) {
	if h.cfg.Recover > 0 {
		h.due.Poke(session)
		return
	}
	h.begin(func() {
		late, wait, facts := time.Now().Add(pokeTime), pokeFirst, uint64(0)
		for time.Now().Before(late) {
			if err := h.resume(h.runs, session); err != nil && !errors.Is(err, due.ErrLater) {
				h.cfg.Logger.WarnContext(h.runs, "live: a run that was resumed has failed", "session", session, "error", err)
			}
			head, err := h.cfg.Agent.Journal().Head(h.runs, session)
			switch {
			case err == nil && head.Inbox == 0 && agent.Status(head.Status) != agent.Running:
				return
			case err == nil && head.Seq > facts:
				facts, late = head.Seq, time.Now().Add(pokeTime)
			}
			// the lease hasn't ended yet, or another one has just tried, with an empty inbox
			select {
			case <-h.stopped:
				return
			case <-time.After(wait):
				wait = min(2*wait, pokeMost)
			}
		}
	})
}

// Cancel stops the run in progress in a session, in this or another process: see
// [agent.Session.Cancel].
func (h *Hub) Cancel(ctx context.Context, session string) error {
	if h == nil || h.topics == nil {
		return errNoHub
	}
	return h.cfg.Agent.Session(session).Cancel(ctx)
}

// Agent returns the agent that the hub runs.
func (h *Hub) Agent() *agent.Agent {
	if h == nil {
		return nil
	}
	return h.cfg.Agent
}

// Closing returns a channel that is closed when [Hub.Close] begins, so that a server can end its
// readers' requests in time.
func (h *Hub) Closing() <-chan struct{} {
	if h == nil {
		return nil
	}
	return h.stopped
}

// Close drains the agent: see [agent.Agent.Drain]. Runs are paused at their next safe point, and
// resumed by the next process. Model calls and tool calls that are still in progress after
// Config.Drain are canceled; their runs stay open in the journal, and are resumed as after a crash.
// The error is then that of [agent.Agent.Drain]. Readers get what is left for them, and then
// [ErrClosed]. When Close returns, all goroutines of the hub have ended. Closing again returns nil.
func (h *Hub) Close() error {
	if h == nil || h.topics == nil {
		return errNoHub
	}
	h.mu.Lock()
	if !h.closing {
		h.closing = true
		close(h.stopped)
		h.undeliver(ErrClosed)
		h.work.Go(h.due.Stop)
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), h.cfg.Drain)
	defer cancel()
	err := h.cfg.Agent.Drain(ctx)
	// as if the leases were lost: nothing more is stored
	h.end(&agent.SessionError{Code: agent.ErrBusy, Err: &agent.SessionError{Code: agent.ErrDraining}})
	h.work.Wait()
	h.leave(ErrClosed)
	h.subscribed.Wait()
	return err
}
