package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A ui is a conversation.
type ui struct {
	cfg     Config // fixed
	hub     *live.Hub
	session *agent.Session
	keys    *keyboard
	out     *screen
	signals chan os.Signal

	events  chan agent.Event // of the session; nil before it has any
	watched error            // why there are no more
	unwatch context.CancelFunc

	running bool          // a run is in progress, here or elsewhere
	run     string        // the run that was started here
	after   uint64        // the facts up to this one are older
	pending []agent.Pause // what the session waits for

	decided map[string]bool // pauses that were decided, wherever
	tried   map[string]bool // pauses that the host was asked about
	asked   string          // the pause that was described last

	mode    string    // of the next input
	queued  []message // what was typed and not read by a run yet
	history history
	pressed time.Time // the last Ctrl-C
}

// A message is what was typed, with the key that keeps it from being read twice.
type message struct{ text, key string }

// begin starts or resumes what there is to do.
func (u *ui) begin(ctx context.Context) error {
	res, err := u.look(ctx)
	open := err == nil && len(u.pending) == 0 && (res.Status == agent.Running || res.Status == agent.Paused)
	if err == nil {
		info, err := u.session.Info(ctx)
		if err != nil {
			return err
		}
		if u.after = info.Facts; open && !u.cfg.Once {
			u.watch(ctx, res.Start-1) // what was said before may not have been seen
		} else {
			u.watch(ctx, u.after)
		}
	}
	switch {
	case u.cfg.Prompt != "":
		return u.start(ctx, u.input(u.cfg.Prompt))
	case u.cfg.Once || open:
		return u.goOn(ctx)
	case len(u.pending) > 0:
		u.tell("This session waits for a decision.")
	case errors.Is(err, agent.ErrNothingOpen): // a new session
		return nil
	}
	return err
}

// look finds out what the session waits for.
func (u *ui) look(ctx context.Context) (*agent.Result, error) {
	u.pending = nil
	res, err := u.session.Result(ctx)
	if err == nil && res.Status == agent.Paused {
		u.pending = res.Pending
	}
	return res, err
}

// input returns the input for a prompt.
func (u *ui) input(text string) agent.Input {
	in := u.cfg.Input
	in.Session, in.Prompt, in.Mode, in.Interactive = u.cfg.Session, text, u.mode, true
	if in.Title == "" {
		in.Title = tools.CleanTitle(short(text, 60))
	}
	return in
}

// start starts or resumes a run.
func (u *ui) start(ctx context.Context, in agent.Input) error {
	return u.began(ctx)(u.hub.Start(ctx, in))
}

// began returns a function that notes that a run was started, if it was.
func (u *ui) began(ctx context.Context) func(live.Started, error) error {
	return func(s live.Started, err error) error {
		if err == nil {
			u.running, u.pending = true, nil
		}
		if s.Run != "" {
			u.run, u.after = s.Run, s.After
			u.watch(ctx, s.After)
		}
		return err
	}
}

// goOn resumes the open run. A process that has died holds its session for a while; one that hasn't
// renews its lease.
func (u *ui) goOn(ctx context.Context) error {
	for first := (time.Time{}); ; {
		err := u.start(ctx, agent.Continue(u.cfg.Session))
		var held *journal.HeldError
		switch {
		case err == nil && first.IsZero() && !u.cfg.Once:
			u.tell("The last run of this session was interrupted; going on.")
			return nil
		case errors.As(err, &held) && first.IsZero():
			first = held.Until
			u.tell("The last process didn't close this session; going on in %.0f s.",
				max(time.Until(first).Seconds(), 1))
		case errors.As(err, &held) && !held.Until.After(first): // it still may
		case errors.Is(err, agent.ErrBusy) && !u.cfg.Once:
			u.tell("Another process runs this session. It is shown, and what you type steers it.")
			u.running = true
			return nil
		case errors.Is(err, agent.ErrNothingOpen) && !first.IsZero(): // somebody else went on, to its end
			_, err = u.look(ctx)
			return err
		default:
			return err
		}
		if err := u.pause(ctx); err != nil {
			return err
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
func (u *ui) event(ev agent.Event) {
	meta := ev.Envelope()
	if meta.Session() != u.cfg.Session { // a subagent's
		return
	}
	switch ev := ev.(type) {
	case *agent.RunStarted:
		u.forget(ev.Key)
		if u.running = true; ev.Run() != u.run && ev.ContextReset == nil {
			u.heard(ev.Message.Text())
		}
	case *machine.Steered:
		u.forget(ev.Key)
		u.heard(ev.Message.Text())
	case *machine.Decided:
		u.running, u.decided[ev.Decision.ID] = true, true
	case *machine.Continued:
		u.running = true
	case *agent.RunEnded:
		if ev.Code == machine.CodeContextReset || ev.Seq <= u.after {
			break
		}
		u.running, u.out.calls = false, nil
		if ev.Status != agent.Paused && ev.Status != agent.Completed {
			u.queued = nil // it was about that run
		}
		u.out.endLine()
		if !u.cfg.Once && (ev.Status == agent.Failed || ev.Status == agent.Stopped) {
			u.out.line("%s", u.out.paint(red, fmt.Sprintf("The run has %s: %s", ev.Status, short(ev.Reason, 1000))))
		}
	}
	u.out.show(ev)
}

// heard shows a message that the run has read.
func (u *ui) heard(text string) { u.out.note("» %s", short(text, max(u.out.width-3, 20))) }

// tell prints what isn't part of the conversation.
func (u *ui) tell(format string, args ...any) {
	if u.keys.file != nil {
		u.out.note(format, args...)
	} else {
		fmt.Fprintf(u.cfg.Err, format+"\n", args...)
	}
}

// twice reports whether this Ctrl-C is the second one within a moment. For the first one it says
// what a second one does.
func (u *ui) twice(text string) bool {
	if time.Since(u.pressed) < moment {
		return true
	}
	u.pressed = time.Now()
	u.tell("%s", text)
	return false
}

// follow shows a run until it has ended or paused. What is typed meanwhile steers it.
func (u *ui) follow(ctx context.Context) error {
	if err := u.deliver(ctx); err != nil {
		return err
	}
	for u.running {
		err := u.steer(ctx)
		switch {
		case errors.Is(err, errInterrupt):
			if u.twice("Stopping. Another Ctrl-C ends the program at once.") {
				return ErrInterrupted
			}
			err = u.hub.Cancel(ctx, u.cfg.Session)
		case errors.Is(err, io.EOF) && u.keys.ended == nil: // Ctrl-D in a line that was begun
			err = nil
		}
		if err != nil && !errors.Is(err, errChanged) && !errors.Is(err, agent.ErrNothingOpen) {
			return err
		}
	}
	_, err := u.look(ctx)
	return err
}

// steer waits for a message to the run in progress. Its first key shows the line.
func (u *ui) steer(ctx context.Context) error {
	over := func() bool { return !u.running }
	if u.keys.file == nil {
		return u.next(ctx, false, over)
	}
	key, paste, err := u.key(ctx, over)
	switch {
	case err != nil:
		return err
	case key == keyEscape:
		u.keys.skip()
		return nil
	case key != 0 && key < ' ' || key == keyDelete:
		return nil
	}
	first := string([]byte{key})
	if key == 0 {
		first = pasteBegins + paste + pasteEnds
	}
	u.keys.buf = append([]byte(first), u.keys.buf...)
	text, err := u.line(ctx, "» ", "", nil)
	if err != nil {
		return err
	}
	return u.say(ctx, text)
}

// prompt asks for what comes next.
func (u *ui) prompt(ctx context.Context) error {
	text, err := u.line(ctx, "> ", "", nil)
	switch {
	case errors.Is(err, io.EOF):
		return errQuit
	case errors.Is(err, errInterrupt) && u.keys.file != nil:
		if u.twice("Another Ctrl-C ends the program, and so does /quit.") {
			return errQuit
		}
		return nil
	case err != nil:
		return err
	}
	return u.say(ctx, text)
}

// say does what was typed: a command, a message to the run in progress, or a prompt.
func (u *ui) say(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	if name, args, ok := command(text); ok {
		return u.command(ctx, name, args)
	}
	u.queued = append(u.queued, message{text, rand.Text()})
	return u.deliver(ctx)
}

// deliver starts a run with what was typed, or sends it to the run in progress. What that doesn't
// read before it pauses is sent again.
func (u *ui) deliver(ctx context.Context) error {
	for _, m := range u.queued {
		in := u.input(m.text)
		in.Key = m.key
		sent, err := u.hub.Send(ctx, in)
		var paused *agent.PausedError
		switch {
		case errors.As(err, &paused): // by somebody else, or by a process that has died
			if u.pending = paused.Pending; len(u.pending) == 0 {
				return u.refused(u.goOn(ctx))
			}
			return nil
		case !sent.Steered: // a run has it, or nobody will
			u.forget(m.key)
		}
		err = u.began(ctx)(sent.Started, err)
		if err != nil && !errors.Is(err, agent.ErrDuplicate) {
			return u.refused(err)
		}
	}
	return nil
}

// forget removes a message that was read, or refused.
func (u *ui) forget(key string) {
	u.queued = slices.DeleteFunc(slices.Clone(u.queued), func(m message) bool { return m.key == key })
}

// refused shows why an input wasn't taken. The conversation goes on, unless the hub or ctx has
// ended.
func (u *ui) refused(err error) error {
	if err == nil || errors.Is(err, live.ErrClosed) || errors.Is(err, agent.ErrDraining) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, ErrInterrupted) || errors.Is(err, errInterrupt) {
		return err
	}
	u.out.line("%s", u.out.paint(red, clean(strings.TrimPrefix(err.Error(), "agent: "))))
	return nil
}
