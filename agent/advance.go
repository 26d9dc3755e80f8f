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

// Advance starts or resumes what an input asks for, drives it for one leg, and says what has to
// happen next. It is for jobs that may be stopped at any moment, and that go on in any process:
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
// The error means that nothing was recorded; how the run stands is in Progressed. Advance takes all
// inputs and is safe to repeat. An input that starts a run needs a Session and a Key; if the
// session had the Key before, Advance continues that run, or says how it has ended, and needs
// nothing else of the input. A run that its host has paused ([Session.Pause]) waits for [Continue].
// Decisions that the session has taken already are left out.
//
// A session that was started by an agent of another name, or that has open calls of tools that have
// changed (see [ChangedError]), is NextLater in a minute, because another version of the program
// may have them. That is logged. When the run hasn't progressed for an hour, it is the error.
func (a *Agent) Advance(ctx context.Context, in Input, leg Leg) (Progressed, error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return Progressed{}, errNoAgent
	}
	if !in.resumes() && in.Session == "" {
		return Progressed{}, badInput("Session", "Advance needs the name of a session, so that it can be repeated")
	}
	if !in.resumes() && in.Key == "" {
		return Progressed{}, badInput("Key",
			"Advance needs a key for an input that starts a run, so that it can be repeated")
	}
	p, err := a.advance(ctx, in, leg)
	if errors.Is(err, ErrDuplicate) { // another process has started it, or driven it to its end, since this one looked
		p, err = a.advance(ctx, in, leg)
	}
	return p, err
}

// advance is Advance for an input that may be repeated.
func (a *Agent) advance(ctx context.Context, in Input, leg Leg) (Progressed, error) {
	if err := a.checkInput(&in); err != nil && (in.resumes() || in.Prompt != "") {
		return Progressed{}, err // without a prompt, it is checked again unless its run has started
	}
	if ctx.Err() != nil {
		return Progressed{}, canceledBy(ctx, causeOf(ctx))
	}
	in.leg = &legState{most: int64(leg.Steps), time: leg.Time}
	if !in.resumes() {
		over, err := a.startedBefore(ctx, &in)
		switch {
		case err != nil:
			return Progressed{}, err
		case over != nil:
			return Progressed{Next: NextEnded, Result: over}, nil
		}
	}
	l := in.leg
	caller, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	if leg.Grace <= 0 {
		leg.Grace = grace
	}
	defer l.watch(ctx, leg.Grace, cut)()
	_, err := a.collect(caller, &in, leg.Event)
	if l.end == nil {
		return a.notDriven(ctx, &in, err)
	}
	return a.scheduled(ctx, in.Session, l.seq, *l.end), nil
}

// startedBefore makes an input that resumes of one whose key started a run that is open. It returns
// the Result of one that has ended; nil if the input is to be driven.
func (a *Agent) startedBefore(ctx context.Context, in *Input) (over *Result, err error) {
	m, err := a.sessions.Load(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	run := m.State().RunOf(in.Key)
	if run == "" {
		return nil, nil
	}
	if err := notOwner(m.State(), in); err != nil {
		return nil, err
	}
	if !m.State().Run.Continues(run) { // it is an earlier one
		was, err := a.upTo(ctx, in.Session, run)
		if err != nil {
			return nil, err
		}
		if was == nil {
			return nil, duplicate(m.State(), in.Key)
		}
		m = was
	}
	if !m.State().Run.IsOpen() {
		return m.LastResult(), nil
	}
	goesOn := Continue(in.Session)
	goesOn.Tools, goesOn.AcceptChanges, goesOn.leg = in.Tools, in.AcceptChanges, in.leg
	*in = goesOn
	in.leg.run = m.State().Run.ID
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

// notDriven returns what follows if an input wasn't driven. err says why.
func (a *Agent) notDriven(ctx context.Context, in *Input, err error) (Progressed, error) {
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
	case in.resumes() && errors.As(err, &paused):
		p.Next, p.At = NextWait, firstExpiry(paused.Pending)
	default:
		return p, err
	}
	m, failed := a.sessions.Load(ctx, in.Session)
	switch {
	case failed != nil && ctx.Err() != nil:
		return Progressed{}, canceledBy(ctx, causeOf(ctx))
	case failed != nil:
		return Progressed{}, errors.Join(err, failed)
	}
	if r := m.State().Run; r != nil {
		if refused := notOwner(m.State(), in); refused != nil {
			return Progressed{}, refused
		}
		if changed != nil && time.Since(r.Last) > missing {
			return Progressed{}, err
		}
		if r.IsQueued() && p.Next == NextWait { // its time hasn't come
			p.At = r.Queue.At
		}
		if in.resumes() || r.Continues(m.State().RunOf(in.Key)) {
			p.Result = m.LastResult()
		}
	}
	if changed != nil {
		a.logger.WarnContext(ctx, "agent: a run needs another version of the agent, and waits for it", "session",
			in.Session, "error", err)
	}
	return a.scheduled(ctx, in.Session, m.State().Seq, p), nil
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
