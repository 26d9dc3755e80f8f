package live

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
)

const (
	// handover is how long is waited at most for a session whose run has ended or paused, but which
	// is still held.
	handover     = 2 * time.Second
	pollHandover = 5 * time.Millisecond
	// pollJournal is how long is waited for a journal that can't be read.
	pollJournal = time.Second
)

// WhenReleased calls do, which needs a session that nobody holds, to undo a run for example, and
// returns its error. A session whose run has ended or paused may still be held for a moment, by
// this process or another one, which releases it: if the error is an [agent.ErrBusy] because of
// that, WhenReleased waits and calls do again, for 2 s at most.
func (h *Hub) WhenReleased(ctx context.Context, session string, do func() error) error {
	if h == nil || h.topics == nil {
		return errNoHub
	}
	if ctx == nil {
		ctx = context.Background()
	}
	waiting, stop := context.WithTimeout(ctx, handover)
	defer stop()
	for {
		err := do()
		if !errors.Is(err, agent.ErrBusy) || waiting.Err() != nil || !h.released(waiting, session) {
			return err
		}
	}
}

// released waits until nobody holds a session any more. It returns false if a run is in progress.
// ctx limits it.
func (h *Hub) released(ctx context.Context, session string) bool {
	for {
		head, err := h.cfg.Agent.Journal().Head(ctx, session)
		switch {
		case err != nil, agent.Status(head.Status) == agent.Running:
			return false
		case head.Owner == "", !time.Now().Before(head.Until):
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-h.stopped:
			return false
		case <-time.After(pollHandover):
		}
	}
}

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
// has the values of ctx, unless it was stopped: then the text is dropped. If it pauses first, it
// gets the text when it goes on: Supersede counts only for what waits when Send is called. The hub
// remembers the text until then, but another process doesn't.
//
// An input with Parts can't be sent to a run in progress, so that the error is then
// [agent.ErrBusy]; nor can that of somebody else than the session's owner, for whom it is
// [agent.ErrNotOwner].
func (h *Hub) Send(ctx context.Context, in agent.Input) (Sent, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	for again := false; ; again = true {
		started, err := h.Start(ctx, in)
		if !errors.Is(err, agent.ErrBusy) || len(in.Parts) > 0 || again {
			return Sent{Started: started}, err
		}
		own := h.cfg.Agent.Session(in.Session)
		info, failed := own.Info(ctx)
		if failed != nil { // it has no facts yet
			return Sent{}, err
		}
		if in.Owner != "" && in.Owner != info.Owner {
			return Sent{}, &agent.SessionError{Session: in.Session, Code: agent.ErrNotOwner}
		}
		receipt, err := own.Steer(ctx, in.Prompt, in.Key)
		if errors.Is(err, agent.ErrNothingOpen) { // the run has just ended
			continue
		}
		if err != nil {
			return Sent{}, err
		}
		before, done := h.queue(in.Session)
		if !h.begin(func() { h.sent(context.WithoutCancel(ctx), in, receipt, before, done) }) {
			done()
		}
		return Sent{Started: Started{Session: in.Session}, Steered: true}, nil
	}
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
func (h *Hub) sent(ctx context.Context, in agent.Input, receipt *agent.Receipt, before <-chan struct{}, done func()) {
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
	own := h.cfg.Agent.Session(in.Session)
	for err != nil && ctx.Err() == nil {
		info, failed := own.Info(ctx)
		switch {
		case passes(ctx, failed):
			continue
		case failed != nil || info.Status == agent.Stopped:
			return
		case info.Status == agent.Paused:
			h.goesOn(ctx, in.Session, info.Facts)
			continue
		}
		_, err = h.Start(ctx, in)
		if errors.Is(err, agent.ErrBusy) { // its key is used up in this run
			if receipt, err = own.Steer(ctx, in.Prompt); err == nil {
				err = wait(ctx, receipt)
				continue
			}
		}
		switch {
		case errors.As(err, new(*agent.PausedError)): // it has just paused, or its process has died
			h.goesOn(ctx, in.Session, info.Facts)
		case errors.Is(err, agent.ErrDuplicate):
			return
		case err != nil && !errors.Is(err, agent.ErrNothingOpen): // that is a run that has just ended
			h.cfg.Logger.WarnContext(ctx, "live: no run has read a message", "session", in.Session, "error", err)
			return
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
