package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	moment = 2 * time.Second        // between two Ctrl-C that belong together
	beat   = 250 * time.Millisecond // between two looks at the size of the window and at the time
)

// next waits until more was typed, if read says so, and shows what the session does meanwhile. All
// waiting is here. The error is errChanged when over returns true, errInterrupt after SIGINT, and
// the end of the input, of ctx or of the hub.
func (u *ui) next(ctx context.Context, read bool, over func() bool) error {
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
			u.event(ev)
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
	}
	if u.out.editor != nil {
		_ = u.out.editor.SetSize(width, height)
	}
	u.out.working()
}

// key waits for a key: its byte, or the text of a paste.
func (u *ui) key(ctx context.Context, over func() bool) (b byte, paste string, err error) {
	for {
		if b, paste, ok := u.keys.key(); ok && b == keyCtrlC {
			return 0, "", errInterrupt
		} else if ok {
			return b, paste, nil
		}
		if err := u.next(ctx, true, over); err != nil {
			return 0, "", err
		}
	}
}

// newLine stands for a line break in a line that is written.
const newLine = "⏎"

// A pipe gives an editor of lines its input and output.
type pipe struct {
	io.Writer
	read func(b []byte) (int, error)
}

func (p pipe) Read(b []byte) (int, error) { return p.read(b) }

// line shows a prompt and waits for a line. In a terminal, each of the keys is a line of its own,
// and if there are any, nothing else is. The error is also errChanged when a run begins, unless a
// line has been begun.
func (u *ui) line(ctx context.Context, prompt, keys string) (string, error) {
	if u.keys.file == nil {
		return u.plainLine(ctx, prompt)
	}
	var feed []byte
	running, begun := u.running, false
	over := func() bool { return u.running && !running && !begun }
	editor := term.NewTerminal(pipe{u.out, func(b []byte) (int, error) {
		for len(feed) == 0 {
			key, paste, err := u.key(ctx, over)
			switch {
			case err != nil:
				return 0, err
			case keys != "" && strings.IndexByte(keys, key) >= 0:
				feed = []byte{key, keyEnter}
			case keys != "" && key != keyCtrlD: // it decides nothing
				u.keys.skip(key)
			case key != 0:
				feed, begun = []byte{key}, true
			default:
				begun = true
				text := strings.NewReplacer("\n", newLine, "\t", "    ").Replace(clean(paste))
				feed = slices.Concat([]byte(pasteBegins), []byte(text), []byte(pasteEnds))
			}
		}
		n := copy(b, feed)
		feed = feed[n:]
		return n, nil
	}}, u.out.paint(bold, prompt))
	if keys == "" && !u.hidden {
		u.history = cmp.Or(u.history, editor.History)
		editor.History = u.history
	}
	u.out.edit(editor)
	u.refresh()
	read := editor.ReadLine
	if u.hidden {
		read = func() (string, error) { return editor.ReadPassword(u.out.paint(bold, prompt)) }
	}
	text, err := read()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	if err != nil {
		u.out.write("\n")
	}
	u.out.edit(nil)
	return strings.TrimSpace(strings.ReplaceAll(text, newLine, "\n")), err
}

// plainLine reads a line of something that isn't a terminal.
func (u *ui) plainLine(ctx context.Context, prompt string) (string, error) {
	u.out.endLine()
	u.out.print(prompt)
	for !bytes.Contains(u.keys.buf, []byte("\n")) {
		err := u.next(ctx, true, nil)
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
