package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	moment = 2 * time.Second        // between two Ctrl-C that belong together
	beat   = 250 * time.Millisecond // between two looks at the size of the window and at the time
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
		if err := u.await(ctx, true, over); err != nil {
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

// A menu shows choices as a history.
type menu []string

func (menu) Add(string)        {}
func (m menu) Len() int        { return len(m) }
func (m menu) At(i int) string { return m[i] }

// keys returns what the editor of a line has to do for a key, and whether it was Escape alone.
func (q *asking) keys(key byte, k *keyboard) (feed string, left bool) {
	arrows := q != nil && q.choices != nil
	if arrows && (key == keyCtrlN || key == keyCtrlP) {
		return "", false
	}
	if key != keyEscape {
		return string([]byte{key}), false
	}
	if q == nil && len(k.buf) > 0 && k.buf[0] != '[' && k.buf[0] != 'O' {
		k.skip(key)
		return "", false
	}
	switch keys := k.sequence(); keys {
	case "":
		return "", true
	case "[A", "OA", "[B", "OB":
		switch {
		case !arrows:
			return string([]byte{keyEscape, '[', keys[1]}), false
		case q.written:
			return "", false
		}
		return string([]byte{keyEscape, '[', 'A' + 'B' - keys[1]}), false // the newest of a history comes first
	case "[C", "[D", "[H", "[F", "[3~", "[1;3C", "[1;3D":
		return string(rune(keyEscape)) + keys, false
	case "OC", "OD", "OH", "OF":
		return string([]byte{keyEscape, '[', keys[1]}), false
	}
	return "", false
}

// onOneLine returns a text as it is written into a line.
func onOneLine(text string) string {
	return strings.NewReplacer("\n", newLine, "\t", "    ").Replace(clean(text))
}

// line shows a prompt and waits for a line. The error is also errChanged when a run begins or a
// decision is wanted, unless a line has been begun, and when Escape leaves a question.
func (u *ui) line(ctx context.Context, prompt string, q *asking) (string, error) {
	if u.keys.file == nil {
		return u.plainLine(ctx, prompt)
	}
	feed, running, begun := "", u.running, false
	if q != nil && q.fresh {
		q.early, q.pasted, q.written = false, false, false
		if feed = u.keys.ahead(); feed != "" && u.hidden {
			u.out.note("What was typed before the question is dropped.")
			feed = ""
		}
		if feed != "" {
			feed, begun, q.early, q.written = pasteBegins+feed+pasteEnds, true, true, true
		}
	}
	over := func() bool { return !begun && (u.running && !running || q == nil && len(u.pending) > 0) }
	editor := term.NewTerminal(pipe{u.out, func(b []byte) (int, error) {
		for feed == "" {
			key, paste, err := u.key(ctx, over)
			if err != nil {
				return 0, err
			}
			left := false
			if key != 0 {
				feed, left = q.keys(key, u.keys)
			} else {
				feed = pasteBegins + onOneLine(paste) + pasteEnds
				if q != nil {
					q.pasted, q.written = true, true
				}
			}
			switch {
			case left && q != nil && q.leaves:
				return 0, errChanged
			case left && q != nil:
				feed, q.written = string([]byte{keyCtrlE, keyCtrlU}), false
			}
			begun = begun || feed != ""
			u.drafting = begun && q == nil
		}
		n := copy(b, feed)
		feed = feed[n:]
		return n, nil
	}}, u.out.paint(bold, prompt))
	if q != nil {
		editor.AutoCompleteCallback = func(line string, _ int, _ rune) (string, int, bool) {
			q.early, q.pasted, q.written = q.early && line != "", q.pasted && line != "", true
			return "", 0, false
		}
	}
	u.history = cmp.Or(u.history, editor.History)
	switch {
	case q != nil && q.choices != nil:
		editor.History = menu(q.choices)
	case !u.hidden:
		editor.History = u.history
	}
	u.out.edit(editor)
	u.refresh()
	read := editor.ReadLine
	if u.hidden {
		read = func() (string, error) { return editor.ReadPassword(u.out.paint(bold, prompt)) }
	}
	text, err := read()
	u.drafting = false
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
