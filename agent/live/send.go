package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

const (
	// sendWithin is how long an input is tried in turn as a run and as a message, at intervals of
	// sendEvery, while runs of others begin and end.
	sendWithin = 2 * time.Second
	sendEvery  = 5 * time.Millisecond
	// pollJournal is how long is waited for a journal that can't be read.
	pollJournal = time.Second
)

// A Sent is what has become of an input: see [Hub.Send].
type Sent struct {
	Started      // the run; only the session is known if Steered
	Steered bool // the run in progress gets the text
}

// Send starts a run with an input, or sends its text to the run in progress of the session, in this
// or another process: see [agent.Session.Steer]. It returns when the run has begun, or when the
// text is stored; the run may read that much later, when a slow tool has returned. If the session
// had an input with its key before, the error is [agent.ErrDuplicate].
//
// If the run ends without having read the text, the hub starts another run with the input, which
// has the values of ctx, unless somebody has stopped it: then the text is dropped. If it pauses
// first, it gets the text when it goes on: Supersede counts only for what waits when Send is
// called. The hub remembers the text until then, but another process doesn't.
//
// An input with Parts or Replaces can't be sent to a run in progress, so that the error is then
// [agent.ErrBusy]; nor can that of somebody else than the session's owner, for whom it is
// [agent.ErrNotOwner].
func (h *Hub) Send(ctx context.Context, in agent.Input) (Sent, error) {
	return h.SendIf(ctx, in, nil)
}

// SendIf is [Hub.Send] for a host that limits how many runs are started: before the hub starts a
// run with the input, it calls may, and not before it sends the text to a run in progress. What may
// returns is called when the run has ended or paused, or couldn't be started. An error of may is
// that of SendIf: nothing was started, and the key isn't used.
//
// Of a run that the hub starts later, because the one in progress hasn't read the text, nobody
// waits for the answer. After an error of class fault.RateLimited may is then called again, when
// that says or each second, for a minute at most. With any other error, and after that minute, the
// text waits for the next run of the session, which reads it; that is logged. A panic of may is an
// error. may may be called by another goroutine after SendIf has returned. If it is nil, each run
// may start, as with Send.
func (h *Hub) SendIf(ctx context.Context, in agent.Input, may func(context.Context) (release func(), err error)) (Sent,
	error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if h == nil || h.topics == nil {
		return Sent{}, errNoHub
	}
	may = h.asking(may)
	own, alone := h.cfg.Agent.Session(in.Session), len(in.Parts) > 0 || in.Replaces > 0
	late := time.Now().Add(sendWithin)
	for over := false; ; { // the run in progress has just ended, or its process has died
		info, failed := own.Info(ctx)
		if alone && failed == nil && h.inProgress(ctx, in.Session) {
			if in.Owner != "" && in.Owner != info.Owner {
				return Sent{}, &agent.SessionError{Session: in.Session, Code: agent.ErrNotOwner}
			}
			if run, used := isUsed(ctx, own, in.Key); used {
				return Sent{}, &agent.SessionError{Session: in.Session, Code: agent.ErrDuplicate, Run: run}
			}
			return Sent{}, &agent.SessionError{Session: in.Session, Code: agent.ErrBusy}
		}
		var err error
		if over || alone || failed != nil || info.Status != agent.Running {
			var started Started
			if started, err = h.startIf(ctx, in, may); alone || !errors.Is(err, agent.ErrBusy) {
				return Sent{Started: started}, err
			}
			over = false // another input was faster
		} else {
			if in.Owner != "" && in.Owner != info.Owner {
				return Sent{}, &agent.SessionError{Session: in.Session, Code: agent.ErrNotOwner}
			}
			var receipt *agent.Receipt
			receipt, err = own.Steer(withOutside(ctx, &in), in.Prompt, in.Key)
			if err == nil {
				before, done := h.queue(in.Session)
				if !h.begin(func() { h.sent(context.WithoutCancel(ctx), in, may, receipt, before, done) }) {
					done()
				}
				return Sent{Started: Started{Session: in.Session}, Steered: true}, nil
			}
			if over = errors.Is(err, agent.ErrNothingOpen); !over {
				return Sent{}, err
			}
			continue
		}
		if time.Now().After(late) {
			return Sent{}, err
		}
		select {
		case <-ctx.Done():
			return Sent{}, context.Cause(ctx)
		case <-time.After(sendEvery):
		}
	}
}

// withOutside returns a context for a message whose text comes from outside, as the input says, or
// because the call of a tool sends it that has read such text.
func withOutside(ctx context.Context, in *agent.Input) context.Context {
	if len(in.Outside) == 0 {
		return ctx
	}
	from := slices.Clone(in.Outside)
	if c, ok := tools.CallOf(ctx); ok {
		from = append(from, c.Outside...)
	}
	return tools.WithCall(ctx, &tools.Call{Outside: from})
}

// startIf starts a run if it may.
func (h *Hub) startIf(ctx context.Context, in agent.Input, may func(context.Context) (func(), error)) (Started, error) {
	release, err := may(ctx)
	if err != nil {
		return Started{}, err
	}
	started, err := h.Start(ctx, in)
	if err != nil || !h.begin(func() {
		<-started.Done
		release()
	}) {
		release()
	}
	return started, err
}

// queue returns a channel that is closed when the text that was sent to a session before has been
// read or dropped, which is nil if there is none, and a function that says so of the next one.
func (h *Hub) queue(session string) (before <-chan struct{}, done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := make(chan struct{})
	before, h.unread[session] = h.unread[session], own
	return before, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(own)
		if h.unread[session] == own {
			delete(h.unread, session)
		}
	}
}

// sent sees to it that a text is read that was sent to a run in progress.
func (h *Hub) sent(ctx context.Context, in agent.Input, may func(context.Context) (func(), error),
	receipt *agent.Receipt, before <-chan struct{}, done func()) {
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.runs, func() { cancel(context.Cause(h.runs)) })()
	err := wait(ctx, receipt)
	if err != nil && before != nil { // in their order
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
	own, over := h.cfg.Agent.Session(in.Session), false
	for err != nil && ctx.Err() == nil {
		info, failed := own.Info(ctx)
		switch {
		case passes(ctx, failed):
			continue
		case failed != nil || info.Status == agent.Stopped && wasStopped(ctx, own):
			return
		case info.Status == agent.Paused:
			h.goesOn(ctx, in.Session, info.Facts)
			continue
		}
		// one that is in progress gets the text
		if err = agent.ErrBusy; info.Status != agent.Running || over {
			over = false
			_, err = h.startIf(ctx, in, func(ctx context.Context) (func(), error) { return allowed(ctx, may) })
		}
		if errors.Is(err, agent.ErrBusy) {
			if receipt, err = own.Steer(withOutside(ctx, &in), in.Prompt, in.Key); err == nil {
				err = wait(ctx, receipt)
				continue
			}
			over = errors.Is(err, agent.ErrNothingOpen)
		}
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			h.cfg.Logger.WarnContext(ctx, "live: a message that no run has read waits for the next run of the session",
				"session", in.Session, "error", refused.err)
			h.goesOn(ctx, in.Session, info.Facts)
		case errors.As(err, new(*agent.PausedError)): // it has just paused, or its process has died
			h.goesOn(ctx, in.Session, info.Facts)
		case errors.Is(err, agent.ErrDuplicate):
			return
		case errors.Is(err, agent.ErrUnread):
			passes(ctx, err)
		case err != nil && !errors.Is(err, agent.ErrNothingOpen): // that is a run that has just ended
			h.cfg.Logger.WarnContext(ctx, "live: no run has read a message", "session", in.Session, "error", err)
			return
		}
	}
}

// wasStopped reports whether the newest run was stopped by somebody, and not by a limit or
// condition.
func wasStopped(ctx context.Context, s *agent.Session) bool {
	res, err := s.Result(ctx)
	return err != nil || machine.StoppedByPerson(res.Code)
}

// inProgress reports whether a run of a session is in progress, in this or another process.
func (h *Hub) inProgress(ctx context.Context, session string) bool {
	head, err := h.cfg.Agent.Journal().Head(ctx, session)
	return err == nil && agent.Status(head.Status) == agent.Running && head.Owner != "" && time.Now().Before(head.Until)
}

// isUsed reports whether a session has had an input or a message with a key, and in which run.
func isUsed(ctx context.Context, s *agent.Session, key string) (run string, used bool) {
	if key == "" {
		return "", false
	}
	facts, err := s.Facts(ctx)
	if err != nil {
		return "", false
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			used = f.Key == key
		case *machine.Steered:
			used = f.Key == key
		}
		if used {
			return f.Envelope().Run(), true
		}
	}
	return "", false
}

// A refusal is an error of the function that is asked whether a run may start.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }

// soon is how long is waited at most for a run that may not start now.
const soon = time.Minute

// allowed calls may until a run may start, or won't soon: that is a *refusal.
func allowed(ctx context.Context, may func(context.Context) (func(), error)) (release func(), err error) {
	for late := time.Now().Add(soon); ; {
		if release, err = may(ctx); err == nil {
			return release, nil
		}
		rest, advised := fault.RetryAfter(err)
		if !advised {
			rest = time.Second
		}
		if fault.Of(err) != fault.RateLimited || time.Now().Add(rest).After(late) {
			return nil, &refusal{err}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(rest):
		}
	}
}

// goesOn waits until a session has a fact after that number.
func (h *Hub) goesOn(ctx context.Context, session string, after uint64) {
	for ev, err := range h.Watch(ctx, session, after) {
		if err != nil {
			passes(ctx, err)
			return
		}
		if ev.Envelope().Seq > after {
			return
		}
	}
}

// wait waits until a text is read. While the journal can't be read, nobody knows whether it was.
func wait(ctx context.Context, receipt *agent.Receipt) error {
	for {
		_, err := receipt.Wait(ctx)
		if !passes(ctx, err) {
			return err
		}
	}
}

// passes reports whether an error of the journal may have gone away by now: it waits for that.
func passes(ctx context.Context, err error) bool {
	if !fault.Retryable(fault.Of(err)) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollJournal):
		return true
	}
}
