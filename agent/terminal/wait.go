package terminal

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	moment  = 2 * time.Second        // between two Ctrl-C that belong together
	beat    = 250 * time.Millisecond // between two looks at the size of the window and at the time
	instant = 50 * time.Millisecond  // between an Escape and the rest of a key's sequence
)

// await waits until more was typed, if read says so, and shows what the session does meanwhile. All
// waiting is here. The error is errChanged when over returns true, errInterrupt after SIGINT, and
// the end of the input, of ctx or of the hub.
func (u *ui) await(ctx context.Context, read bool, over func() bool) error {
	if read && u.keys.ended != nil {
		return u.keys.ended
	}
	var got <-chan typed
	if read {
		got = u.keys.ask()
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		u.refresh()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case u.out.failed != nil:
			return u.out.failed
		case over != nil && over():
			return errChanged
		}
		select {
		case <-ctx.Done():
		case t := <-got:
			u.keys.take(t)
			return nil
		case ev, ok := <-u.events:
			if !ok {
				return u.watched
			}
			if err := u.event(ctx, ev); err != nil {
				return err
			}
		case s := <-u.signals:
			if s != os.Interrupt {
				return ErrInterrupted
			}
			return errInterrupt
		case <-tick.C:
			u.discover(ctx)
		}
	}
}

// goesOn waits for what may follow an Escape that came alone, and reports whether it is the rest of
// a key's sequence.
func (u *ui) goesOn(ctx context.Context) (bool, error) {
	switch {
	case !u.keys.alone:
		return false, nil
	case u.keys.ended != nil:
		return false, u.keys.ended
	}
	late := time.NewTimer(instant)
	defer late.Stop()
	select {
	case t := <-u.keys.ask():
		return u.keys.take(t), nil
	case <-late.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// discover follows a session that somebody else has begun since it was looked at.
func (u *ui) discover(ctx context.Context) {
	if u.events != nil {
		return
	}
	if _, err := u.session.Info(ctx); err == nil {
		u.watch(ctx, 0)
	}
}

// refresh looks at the size of the window, and shows what is in progress.
func (u *ui) refresh() {
	width, height := u.keys.size()
	u.out.width, u.out.height, u.out.state = width, height, ""
	if u.running {
		u.out.state = u.stateLine()
		u.saySilence()
	}
	u.out.working()
}

// stroke waits for a key, or a paste.
func (u *ui) stroke(ctx context.Context, over func() bool) (s stroke, err error) {
	for {
		if s, ok := u.keys.next(); ok && s.key == keyCtrlC {
			return stroke{}, errInterrupt
		} else if ok {
			return s, nil
		}
		if err := u.await(ctx, true, over); err != nil {
			return stroke{}, err
		}
	}
}

// An asking is how a line at a question is written. Without one, a line is a request.
type asking struct {
	// choices are what the arrows bring to the line, one after the other, if nothing was written
	// there; nil: earlier requests.
	choices []string
	// fresh says that what was typed before the prompt was drawn isn't meant for it. It is brought
	// to the line, which then is early.
	fresh bool
	// leaves says that Escape leaves the question; otherwise it clears the line.
	leaves bool

	// Of the line that was written, a part was typed before the prompt was drawn, or pasted.
	early, pasted bool
	written       bool // something was, since the line was cleared
}

// note notes that a stroke writes something into a line.
func (q *asking) note(s stroke, line string) {
	if s.key == 0 {
		q.pasted = true
	} else if line == "" {
		q.early, q.pasted = false, false
	}
	q.written = true
}

// line shows a prompt and waits for a line. The error is also errChanged when a run begins or a
// decision is wanted, unless a line has been begun, and when Escape leaves a question.
func (u *ui) line(ctx context.Context, prompt string, q *asking) (string, error) {
	if u.keys.file == nil {
		return u.plainLine(ctx, prompt)
	}
	e, running, begun := &editor{prompt: prompt, hidden: u.hidden}, u.running, false
	if q != nil && q.fresh {
		q.early, q.pasted, q.written = false, false, false
		if early := u.keys.ahead(); early != "" && u.hidden {
			u.out.note("What was typed before the question is dropped.")
		} else if strings.TrimSpace(early) != "" {
			e.insert(early)
			begun, q.early, q.written = true, true, true
		}
	}
	switch {
	case q != nil && q.choices != nil:
		e.older = q.choices
	case !u.hidden:
		e.older = u.history
	}
	over := func() bool { return !begun && (u.running && !running || q == nil && len(u.pending) > 0) }
	u.out.edit(e)
	var err error
	for ended := false; !ended && err == nil; {
		var s stroke
		if s, err = u.stroke(ctx, over); err != nil {
			break
		}
		begun = begun || q != nil || s.key != keyEscape
		u.drafting = begun && q == nil
		ended, err = u.press(ctx, e, q, s)
	}
	u.drafting = false
	u.out.edit(nil)
	text := strings.TrimSpace(e.text)
	if err != nil || text == "" {
		return "", err
	}
	if !u.hidden && (q == nil || q.choices == nil) {
		u.remember(text)
	}
	if q == nil { // of pasted code, the first line may be indented
		text = strings.TrimRight(strings.TrimLeft(e.text, "\n"), blanks)
	}
	return text, nil
}

// press does what a key says in a line.
func (u *ui) press(ctx context.Context, e *editor, q *asking, s stroke) (ended bool, err error) {
	arrow := s.key == keyCtrlN || s.key == keyCtrlP
	switch {
	case s.key == keyEscape && q == nil:
		return false, u.escape(ctx)
	case s.key == keyEscape:
		if goesOn, err := u.goesOn(ctx); err != nil || goesOn {
			return false, err
		}
		if q.leaves {
			return false, errChanged
		}
		e.set("")
		q.written = false
		return false, nil
	case q != nil && s.writes():
		q.note(s, e.text)
	case q != nil && q.choices != nil && arrow:
		if q.written {
			return false, nil
		}
		s.key = keyCtrlN + keyCtrlP - s.key // the first choice comes first
	}
	return e.press(s)
}

// mostHistory is how many lines the up arrow brings back.
const mostHistory = 100

// remember keeps what was written for the up arrow.
func (u *ui) remember(text string) {
	u.history = slices.Insert(u.history, 0, text)
	u.history = u.history[:min(len(u.history), mostHistory)]
}

// plainLine reads a line of something that isn't a terminal.
func (u *ui) plainLine(ctx context.Context, prompt string) (string, error) {
	u.out.endLine()
	u.out.print(prompt)
	for !bytes.Contains(u.keys.buf, []byte("\n")) {
		err := u.await(ctx, true, nil)
		if err != nil && (u.keys.ended == nil || len(u.keys.buf) == 0) {
			u.out.endLine()
			return "", err
		} else if err != nil { // a last line without a line break
			break
		}
	}
	line, rest, _ := bytes.Cut(u.keys.buf, []byte("\n"))
	u.keys.buf, u.out.open = rest, false // the Enter of a person would have ended the line
	return strings.TrimSpace(clean(string(line))), nil
}
