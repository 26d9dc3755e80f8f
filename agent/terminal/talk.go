package terminal

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A ui is a conversation.
type ui struct {
	cfg     Config
	hub     *live.Hub
	keys    *keyboard
	out     *screen
	signals chan os.Signal
	talk

	listed  []agent.SessionInfo // the sessions that /sessions has shown; nil: none yet
	history []string            // what was written, the newest first
	hidden  bool                // what is typed is a secret
	pressed time.Time           // the last Ctrl-C
}

// A talk is what is known of the session.
type talk struct {
	session *agent.Session
	state

	events  chan agent.Event // of the session; nil before it has any
	watched error            // why there are no more
	unwatch context.CancelFunc

	running bool          // a run is in progress, here or elsewhere
	calling time.Time     // since when the model hasn't begun to answer; zero: it has, or a line says so
	run     string        // the run that was started here
	after   uint64        // the facts up to this one are older
	pending []agent.Pause // what the session waits for
	asked   string        // the pause that was described last
	draft   string        // of the input of its call
	cut     bool          // not all of it was shown

	unsent   []string // messages that a decision comes before
	drafting bool     // a request has been begun, and isn't written
}

// begin starts or resumes what there is to do.
func (u *ui) begin(ctx context.Context) error {
	res, err := u.session.Result(ctx)
	open := false
	if err == nil {
		info, err := u.session.Info(ctx)
		if err != nil {
			return err
		}
		open = res.Status == agent.Running || res.Status == agent.Paused && len(res.Pending) == 0
		from := info.Facts
		if u.after = from; open && !u.cfg.Once {
			from = res.Start - 1 // what was said before may not have been seen
		}
		u.mode, u.spent, u.unpriced = info.Mode, info.Cost, info.Unpriced
		facts, err := u.session.Facts(ctx)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if r, ok := f.(*agent.Replied); ok {
				u.model, u.used = r.Model, r.Usage.Total()
			}
		}
		u.watch(ctx, from)
	}
	switch {
	case u.cfg.Prompt != "":
		return u.start(ctx, u.input(u.cfg.Prompt))
	case u.cfg.Once || open:
		return u.goOn(ctx)
	case errors.Is(err, agent.ErrNothingOpen): // a new session
		return nil
	case err == nil && res.Status == agent.Paused:
		if u.start(ctx, agent.Continue(u.cfg.Session)) == nil { // a decision was recorded before
			return nil
		}
		u.pending = res.Pending
		u.out.note("This session waits for a decision.")
	}
	return err
}

// look finds out what the session waits for, and whether the next run has begun.
func (u *ui) look(ctx context.Context) error {
	res, err := u.session.Result(ctx)
	if u.pending = nil; err != nil {
		return err
	}
	u.running, u.pending = res.Status == agent.Running, res.Pending
	return nil
}

// input returns the input for a prompt.
func (u *ui) input(text string) agent.Input {
	in := u.cfg.Input
	in.Session, in.Prompt, in.Interactive = u.cfg.Session, text, true
	if in.Title == "" {
		in.Title = tools.CleanTitle(short(text, 60))
	}
	return in
}

// start starts or resumes a run.
func (u *ui) start(ctx context.Context, w agent.Work) error {
	s, err := u.hub.Start(ctx, w)
	return u.began(ctx, s, err)
}

// began notes that a run was started, if it was.
func (u *ui) began(ctx context.Context, s live.Started, err error) error {
	if err == nil {
		u.running, u.pending = true, nil
	}
	if s.Run != "" {
		u.run, u.after = s.Run, s.After
		u.watch(ctx, s.After)
	}
	return err
}

// goOn resumes the open run. A process that has died holds its session for a while; one that hasn't
// renews its lease.
func (u *ui) goOn(ctx context.Context) error {
	waited, err := u.free(ctx, func() error { return u.start(ctx, agent.Continue(u.cfg.Session)) })
	switch {
	case u.cfg.Once:
	case errors.Is(err, agent.ErrBusy):
		u.out.note("A run of this session is in progress. It is shown, and what you type steers it.")
		u.running = true
		return nil
	case errors.Is(err, agent.ErrNothingOpen): // somebody else went on, to its end
		return u.look(ctx)
	case err == nil && !waited:
		u.out.note("The last run of this session was interrupted; going on.")
	}
	return err
}

// free calls do, which needs the session, again when a process that has died holds it no longer.
func (u *ui) free(ctx context.Context, do func() error) (waited bool, err error) {
	var until time.Time
	for {
		err = do()
		held, ok := errors.AsType[*journal.HeldError](err)
		if !ok || waited && held.Until.After(until) {
			return waited, err
		} else if !waited {
			waited, until = true, held.Until
			u.out.note("The last process didn't close this session; going on in %.0f s.",
				max(time.Until(until).Seconds(), 1))
		}
		at := time.Now().Add(beat)
		err = u.await(ctx, false, func() bool { return time.Now().After(at) })
		if errors.Is(err, errInterrupt) {
			return waited, ErrInterrupted
		} else if !errors.Is(err, errChanged) {
			return waited, err
		}
	}
}

// watch follows the session from now on.
func (u *ui) watch(ctx context.Context, after uint64) {
	if u.events != nil {
		return
	}
	events := make(chan agent.Event, 64)
	ctx, u.unwatch = context.WithCancel(ctx)
	u.events = events
	go func() {
		defer close(events)
		for ev, err := range u.hub.Watch(ctx, u.cfg.Session, after) {
			if err != nil {
				u.watched = err
				return
			}
			select {
			case events <- ev:
			case <-ctx.Done():
				u.watched = context.Cause(ctx)
				return
			}
		}
	}()
}

// event shows an event, and notes what the session does.
func (u *ui) event(ctx context.Context, ev agent.Event) (err error) {
	if ev.Envelope().Session() != u.cfg.Session { // a subagent's
		return nil
	}
	u.noteCall(ev)
	switch ev := ev.(type) {
	case *agent.RunStarted:
		u.mode, u.cfg.Input.Mode = ev.Mode, ""
		if u.running = true; ev.Run() != u.run && ev.ContextReset == nil {
			u.heard(ev.Message.Text())
		}
	case *machine.Steered:
		u.heard(ev.Message.Text())
	case *machine.ModeChanged:
		elsewhere := ev.To != u.inMode()
		u.mode, u.cfg.Input.Mode = ev.To, ""
		if elsewhere {
			u.out.note("◦ mode: %s", u.stateLine())
		}
	case *agent.StepStarted:
		u.model = cmp.Or(ev.Model, u.model)
	case *agent.Replied:
		u.model, u.used = cmp.Or(ev.Model, u.model), ev.Usage.Total()
		if ev.Seq > u.after {
			u.spent = u.spent.Add(ev.Cost)
		}
	case *machine.Decided, *machine.Continued:
		u.running, u.pending = true, nil
	case *agent.RunEnded:
		if ev.Code == machine.CodeContextReset || ev.Seq <= u.after {
			break
		}
		u.running, u.out.calls = false, nil
		u.out.endLine()
		if !u.cfg.Once && (ev.Status == agent.Failed || ev.Status == agent.Stopped) {
			why := "The run has " + string(ev.Status) + ": " + short(ev.Reason, 1000)
			words := ev.Words()
			if ev.Problem != nil && ev.Problem.Kind == provider.ProblemRequest { // only the reason says more
				words = ""
			}
			if words != "" {
				why = "The run has " + string(ev.Status) + ". " + short(words, 1000)
			} else if ev.Code == machine.CodeCanceled { // a person knows why
				why = "Stopped."
			}
			u.out.line("%s", u.out.paint(red, why))
		}
	}
	u.out.show(ev)
	if ended, ok := ev.(*agent.RunEnded); ok && ended.Status == agent.Paused && ended.Seq > u.after {
		err = u.paused(ctx)
	}
	return err
}

// heard shows a message that the run has read.
func (u *ui) heard(text string) { u.out.note("» %s", short(text, u.out.width-3)) }

// leaveSession ends the watching of the session.
func (u *ui) leaveSession() {
	if u.unwatch != nil {
		u.unwatch()
		for range u.events { // the goroutine closes it
		}
	}
}

// interrupted stops the run in progress. A second Ctrl-C within a moment ends the conversation.
func (u *ui) interrupted(ctx context.Context) error {
	switch again := time.Since(u.pressed) < moment; {
	case u.running && again, !u.running && u.keys.file == nil:
		return ErrInterrupted
	case again:
		return errQuit
	}
	u.pressed = time.Now()
	if !u.running {
		u.out.note("Another Ctrl-C ends the program.")
		return nil
	}
	return u.stop(ctx, "Stopping. Another Ctrl-C ends the program at once.")
}

// escape stops the run in progress, if Escape was a key of its own. A line that was begun stays.
func (u *ui) escape(ctx context.Context) error {
	if !u.running {
		return nil
	}
	if goesOn, err := u.goesOn(ctx); err != nil || goesOn {
		return err
	}
	return u.stop(ctx, "Stopping.")
}

// stop stops the run in progress, unless it has ended meanwhile.
func (u *ui) stop(ctx context.Context, note string) error {
	u.out.note("%s", note)
	err := u.hub.Cancel(ctx, u.cfg.Session)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil
	}
	return u.refused(ctx, err)
}

// follow shows a run until it has ended or paused. The first key that is typed meanwhile shows a
// line for a message to it.
func (u *ui) follow(ctx context.Context) error {
	over := func() bool { return !u.running }
	if u.keys.file == nil {
		return u.await(ctx, false, over)
	}
	for {
		s, err := u.stroke(ctx, over)
		if err == nil && s.key == keyEscape {
			err = u.escape(ctx)
		}
		switch {
		case err != nil:
			return err
		case s.writes() && s.key != keyNewLine:
			u.keys.again = append(u.keys.again, s)
			return u.prompt(ctx, "» ")
		}
	}
}

// prompt asks for a command, a request, or a message to the run in progress.
func (u *ui) prompt(ctx context.Context, mark string) error {
	text, err := u.line(ctx, mark, nil)
	if err != nil || text == "" {
		return err
	}
	if name, args, ok := command(strings.TrimSpace(text)); ok {
		return u.command(ctx, name, args)
	}
	return u.say(ctx, text)
}

// say starts a run with what was typed, or sends it to the run in progress. If a decision comes
// first, it is shown back at the question; if nobody is asked, it is said after that.
func (u *ui) say(ctx context.Context, text string) error {
	var sent live.Sent
	_, err := u.free(ctx, func() (err error) {
		sent, err = u.hub.Send(ctx, u.input(text))
		return err
	})
	if paused, ok := errors.AsType[*agent.PausedError](err); ok {
		u.unsent = append(u.unsent, text)
		if u.pending = paused.Pending; len(u.pending) > 0 {
			return nil
		}
		if err = u.goOn(ctx); err != nil { // its process has died
			u.unsent = nil
		}
		return u.refused(ctx, err)
	}
	return u.refused(ctx, u.began(ctx, sent.Started, err))
}

// refused shows why an input wasn't taken. The conversation goes on, unless the hub or ctx has
// ended.
func (u *ui) refused(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, live.ErrClosed) || errors.Is(err, agent.ErrDraining) ||
		ctx.Err() != nil || errors.Is(err, ErrInterrupted) || errors.Is(err, errQuit) {
		return err
	}
	u.out.line("%s", u.out.paint(red, clean(strings.TrimPrefix(agent.Words(err), "agent: "))))
	return nil
}
