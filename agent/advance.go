package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	soonest      = time.Second // from now, for Progressed.At
	otherVersion = time.Minute // until a run of another version is looked at again
	missing      = time.Hour   // after which that is an error
)

// Advance starts or resumes a run, drives it for one leg, and says what has to happen next. It is
// for jobs that may be stopped at any moment, and that go on in any process:
//
//	p, err := a.Advance(ctx, agent.Input{Session: id, Key: "first", Prompt: prompt}, agent.Leg{Steps: 5})
//	switch {
//	case err != nil:
//		return err // nothing was recorded: try again
//	case p.Next == agent.NextEnded:
//		return p.Result.Err()
//	case !p.At.IsZero():
//		return queue.Add(p.At, p.Key)
//	}
//
// Unlike with Run, neither the end of the context, nor [Agent.Drain], nor the loss of the lease
// ends the run. Its calls don't fail because of that, either: the next leg goes on. If an AfterTool
// hook is cut off after a call that can't run again, the call's result is withheld.
//
// The error means that nothing was recorded, so the same call may be tried again, unless it is an
// *[ArgError]; how the run stands is in Progressed. Advance takes all work and is safe to repeat.
// What starts a run needs a Session and a Key. If the session had the Key before, Advance continues
// that run, or says how it has ended, and ignores the other fields. A run that its host has paused
// ([Session.Pause]) waits for [Continue]. Decisions that the session has taken already are left
// out.
//
// A session that was started by an agent of another name, or that has open calls of tools that have
// changed (see [ChangedError]), is NextLater in a minute, because another version of the program
// may have them. That is logged. When the run hasn't progressed for an hour, the error is the
// *[ChangedError].
func (a *Agent) Advance(ctx context.Context, w Work, leg Leg) (Progressed, error) {
	ctx = orBackground(ctx)
	p, err := a.advance(ctx, w, leg)
	if errors.Is(err, ErrDuplicate) { // another process has started it, or driven it to its end, since this one looked
		p, err = a.advance(ctx, w, leg)
	}
	return p, err
}

// advance is Advance, once.
func (a *Agent) advance(ctx context.Context, w Work, leg Leg) (Progressed, error) {
	j, err := a.job(w)
	if err != nil {
		return Progressed{}, err
	}
	if err := j.checkLeg(a); err != nil {
		return Progressed{}, j.named(err)
	}
	if ctx.Err() != nil {
		return Progressed{}, canceledBy(ctx, causeOf(ctx))
	}
	j.leg = &legState{most: int64(leg.Steps), time: leg.Time}
	j.acceptChanges = j.acceptChanges || leg.AcceptChanges
	if !j.resumes() {
		over, err := a.startedBefore(ctx, j)
		switch {
		case err != nil:
			return Progressed{}, err
		case over != nil:
			return Progressed{Next: NextEnded, Result: over}, nil
		}
	}
	l := j.leg
	caller, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	if leg.Grace <= 0 {
		leg.Grace = grace
	}
	defer l.watch(ctx, leg.Grace, cut)()
	_, err = a.collect(caller, j, leg.Event)
	if l.end == nil {
		return a.notDriven(ctx, j, err)
	}
	return a.scheduled(ctx, j.session, l.seq, *l.end), nil
}

// checkLeg returns what keeps a job from being driven for a leg.
func (j *job) checkLeg(a *Agent) error {
	switch {
	case !j.resumes() && j.session == "":
		return badInput("Session", "Advance needs the name of a session, so that it can be repeated")
	case !j.resumes() && j.start.Key == "":
		return badInput("Key", "Advance needs a key for what starts a run, so that it can be repeated")
	}
	if err := j.check(a); err != nil && (j.resumes() || j.start.Prompt != "") {
		return err // without a prompt, it is checked again unless its run has started
	}
	return nil
}

// startedBefore makes a job that resumes of one whose key started a run that is open. It returns
// the Result of one that has ended; nil if the job is to be driven.
func (a *Agent) startedBefore(ctx context.Context, j *job) (over *Result, err error) {
	m, err := a.sessions.Load(ctx, j.session)
	if err != nil {
		return nil, err
	}
	run := m.State().RunOf(j.start.Key)
	if run == "" {
		return nil, nil
	}
	if err := notOwner(m.State(), j.start.Owner); err != nil {
		return nil, err
	}
	if !m.State().Run.Continues(run) { // it is an earlier one
		was, err := a.upTo(ctx, j.session, run)
		if err != nil {
			return nil, err
		}
		if was == nil {
			return nil, duplicate(m.State(), j.start.Key)
		}
		m = was
	}
	if !m.State().Run.IsOpen() {
		return m.LastResult(), nil
	}
	j.start, j.leg.run = nil, m.State().Run.ID
	return nil, nil
}

// upTo returns the machine of a session at the end of a run, or of the last that continues its
// work. It returns nil if the run was pruned.
func (a *Agent) upTo(ctx context.Context, session, run string) (*machine.Machine, error) {
	facts, err := a.sessions.Facts(ctx, session, 0, 0)
	if err != nil {
		return nil, err
	}
	known, end := run, 0
	for i, f := range facts {
		if start, ok := f.(*RunStarted); ok && start.ContextReset != nil && start.ContextReset.From == known {
			known = f.Envelope().Run()
		}
		if f.Envelope().Run() == known {
			end = i + 1
		}
	}
	m, err := machine.Replay(session, facts[:end]...)
	if err != nil {
		return nil, err
	}
	if r := m.State().Run; r == nil || r.ID != known {
		return nil, nil
	}
	return m, nil
}

// notDriven returns what follows if a job wasn't driven. err says why.
func (a *Agent) notDriven(ctx context.Context, j *job, err error) (Progressed, error) {
	var (
		of      *SessionError
		paused  *PausedError
		changed *ChangedError
		p       Progressed
	)
	switch errors.As(err, &of); {
	case errors.Is(err, session.ErrCut):
		return p, canceledBy(ctx, causeOf(ctx))
	case of != nil && of.Code == ErrBusy:
		p.Next = NextLater
	case of != nil && of.Code == ErrDraining:
		p.Next = NextAgain
	case of != nil && of.Code == ErrNothingOpen && of.Status != "":
		p.Next = NextEnded
	case of != nil:
		return p, err
	case errors.As(err, &changed):
		p.Next, p.At = NextLater, time.Now().Add(otherVersion)
	case j.resumes() && errors.As(err, &paused):
		p.Next, p.At = NextWait, firstExpiry(paused.Pending)
	default:
		return p, err
	}
	m, failed := a.sessions.Load(ctx, j.session)
	switch {
	case failed != nil && ctx.Err() != nil:
		return Progressed{}, canceledBy(ctx, causeOf(ctx))
	case failed != nil:
		return Progressed{}, errors.Join(err, failed)
	}
	if r := m.State().Run; r != nil {
		if !j.resumes() {
			if refused := notOwner(m.State(), j.start.Owner); refused != nil {
				return Progressed{}, refused
			}
		}
		if changed != nil && time.Since(r.Last) > missing {
			return Progressed{}, err
		}
		if r.IsQueued() && p.Next == NextWait { // its time hasn't come
			p.At = r.Queue.At
		}
		if j.resumes() || r.Continues(m.State().RunOf(j.start.Key)) {
			p.Result = m.LastResult()
		}
	}
	if changed != nil {
		a.logger.WarnContext(ctx, "agent: a run needs another version of the agent, and waits for it", "session",
			j.session, "error", err)
	}
	return a.scheduled(ctx, j.session, m.State().Seq, p), nil
}

// scheduled adds when a leg has to follow, and its key. seq is the number of the newest fact.
func (a *Agent) scheduled(ctx context.Context, name string, seq uint64, p Progressed) Progressed {
	if p.Next == NextEnded || p.Next == NextWait && p.At.IsZero() {
		return p
	}
	if p.Next == NextLater && p.At.IsZero() {
		if head, err := a.sessions.Store.Head(ctx, name); err == nil && head.Owner != "" {
			p.At = head.Until
		}
	}
	now := time.Now()
	if at := now.Add(soonest); p.At.Before(at) {
		p.At = at
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %s %d", name, seq, p.Next, p.At.UnixNano())
	if p.Next == NextWait && p.At.Before(now.Add(time.Minute)) {
		// the job that came for the expiry may have come too early, by the clock of this process
		fmt.Fprint(h, now.UnixNano())
	}
	p.Key = hex.EncodeToString(h.Sum(nil)[:16])
	return p
}
