package terminal

import (
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
		}
	}
}

// pause waits for a beat.
func (u *ui) pause(ctx context.Context) error {
	until := time.Now().Add(beat)
	err := u.next(ctx, false, func() bool { return !time.Now().Before(until) })
	if errors.Is(err, errChanged) {
		return nil
	}
	return err
}

// refresh looks at the size of the window, and shows what is in progress.
func (u *ui) refresh() {
	width, height := u.keys.size()
	u.out.width = width
	if u.out.editor != nil {
		_ = u.out.editor.SetSize(width, height)
	}
	u.out.working()
}

// key waits for a key: its byte, or the text of a paste.
func (u *ui) key(ctx context.Context, over func() bool) (b byte, paste string, err error) {
	for {
		b, paste, ok := u.keys.key()
		if ok && b == keyCtrlC {
			err = errInterrupt
		}
		if ok {
			return b, paste, err
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
// and if there are any, nothing else is. The error is also errChanged when over returns true.
func (u *ui) line(ctx context.Context, prompt, keys string, over func() bool) (string, error) {
	if u.keys.file == nil {
		return u.plainLine(ctx, prompt)
	}
	var feed []byte
	editor := term.NewTerminal(pipe{u.out, func(b []byte) (int, error) {
		for len(feed) == 0 {
			key, paste, err := u.key(ctx, over)
			switch {
			case err != nil:
				return 0, err
			case keys != "" && strings.IndexByte(keys, key) >= 0:
				feed = []byte{key, keyEnter}
			case keys != "" && key == keyEscape:
				u.keys.skip()
			case keys != "" && key != keyCtrlD: // it decides nothing
			case key != 0:
				feed = []byte{key}
			default:
				text := strings.NewReplacer("\n", newLine, "\t", "    ").Replace(clean(paste))
				feed = slices.Concat([]byte(pasteBegins), []byte(text), []byte(pasteEnds))
			}
		}
		n := copy(b, feed)
		feed = feed[n:]
		return n, nil
	}}, u.out.paint(bold, prompt))
	editor.History = &u.history
	if keys != "" {
		editor.History = new(history)
	}
	u.out.edit(editor)
	u.refresh()
	text, err := editor.ReadLine()
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
	for {
		if line, ok := u.keys.line(); ok {
			u.out.open = false // the Enter of a person would have ended it
			return strings.TrimSpace(clean(line)), nil
		}
		if err := u.next(ctx, true, nil); err != nil && len(u.keys.buf) == 0 {
			u.out.endLine()
			return "", err
		}
	}
}

// A history is the lines that were typed, the newest last.
type history []string

// Add keeps a line, unless it is empty or the same as the one before.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) != "" && (len(*h) == 0 || (*h)[len(*h)-1] != line) {
		*h = append(*h, line)
	}
}

// Len returns how many lines there are.
func (h *history) Len() int { return len(*h) }

// At returns a line; 0 is the newest.
func (h *history) At(i int) string { return (*h)[len(*h)-1-i] }
