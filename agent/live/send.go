package live

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent"
)

const (
	// handover is how long is waited at most for a session whose run has ended or paused, but which
	// is still held.
	handover     = 2 * time.Second
	pollHandover = 5 * time.Millisecond
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
// text is stored; the run may read that much later, when a slow tool has returned. If the run
// completes without it, the hub starts another run with the input. A run that is stopped or paused
// before it has read the text drops it. If the session had an input with its key before, the error
// is [agent.ErrDuplicate].
//
// An input with Parts can't be sent to a run in progress, so that the error is then
// [agent.ErrBusy]; nor can that of somebody else than the session's owner, for whom it is
// [agent.ErrNotOwner].
func (h *Hub) Send(ctx context.Context, in agent.Input) (Sent, error) {
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
		h.begin(func() { h.sent(in, receipt) })
		return Sent{Started: Started{Session: in.Session}, Steered: true}, nil
	}
}

// sent starts a run with an input whose text the run in progress didn't read before it completed.
func (h *Hub) sent(in agent.Input, receipt *agent.Receipt) {
	_, err := receipt.Wait(h.runs)
	if err == nil || h.runs.Err() != nil {
		return
	}
	info, failed := h.cfg.Agent.Session(in.Session).Info(h.runs)
	if failed == nil && info.Status == agent.Completed {
		_, err = h.Start(h.runs, in)
	}
	if err != nil && !errors.Is(err, agent.ErrDuplicate) {
		h.cfg.Logger.WarnContext(h.runs, "live: no run has read a message", "session", in.Session, "error", err)
	}
}
