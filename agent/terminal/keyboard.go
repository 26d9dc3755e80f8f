package terminal

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// A keyboard reads what a person types, a piece at a time and only when it is asked to, so that an
// editor can have the terminal in between.
type keyboard struct {
	r    io.Reader
	file *os.File    // the terminal; nil if lines are read from something else
	was  *term.State // of the terminal, while it is raw

	want  chan struct{}
	got   chan typed
	asked bool // a read is in progress
	done  sync.WaitGroup

	buf   []byte // read, and not used yet
	alone bool   // the last of what was read is an Escape, which was used
	ended error
}

// A typed is the outcome of a read.
type typed struct {
	data []byte
	err  error
}

// Keys.
const (
	keyCtrlC, keyCtrlD, keyCtrlE, keyEnter, keyCtrlN, keyCtrlP, keyCtrlU = 3, 4, 5, '\r', 14, 16, 21

	keyEscape, keyDelete = 27, 127

	pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"
)

// maxSequence is how many bytes a key's sequence may have. A terminal may send one in pieces: begun
// matches one that lacks its last byte, and rest what follows an Escape that came alone.
const maxSequence = 32

var (
	begun = regexp.MustCompile("^\x1b(?:\\[[0-?]*[ -/]*|O)$")
	rest  = regexp.MustCompile(`^(?:\[[0-?]*[ -/]*[@-~]|O[A-DFHP-S])`)
)

// newKeyboard returns a keyboard, which must be closed.
func newKeyboard(in io.Reader, out io.Writer) *keyboard {
	k := &keyboard{r: in, want: make(chan struct{}, 1), got: make(chan typed, 1)}
	f, ok := in.(*os.File)
	o, too := out.(*os.File)
	if ok && too && os.Getenv("TERM") != "dumb" && onTerminal(f) && onTerminal(o) {
		k.file = f
	}
	k.done.Go(func() {
		for range k.want {
			b := make([]byte, 4096)
			n, err := k.r.Read(b)
			k.got <- typed{b[:n], err}
		}
	})
	return k
}

// control calls f with a file's descriptor. File.Fd would make its reads block.
func control(file *os.File, f func(fd int)) {
	if c, err := file.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { f(int(fd)) })
	}
}

func onTerminal(f *os.File) (ok bool) {
	control(f, func(fd int) { ok = term.IsTerminal(fd) })
	return ok
}

// hold makes the terminal raw, and release makes it what it was.
func (k *keyboard) hold() (err error) {
	if k.file != nil {
		control(k.file, func(fd int) { k.was, err = term.MakeRaw(fd) })
	}
	return err
}

func (k *keyboard) release() (err error) {
	if k.was != nil {
		control(k.file, func(fd int) { err = term.Restore(fd, k.was) })
		k.was = nil
	}
	return err
}

// close gives the terminal back, and ends the read in progress if that is possible.
func (k *keyboard) close() error {
	err := k.release()
	close(k.want)
	if k.asked {
		f, ok := k.r.(interface{ SetReadDeadline(time.Time) error })
		if !ok || f.SetReadDeadline(time.Unix(1, 0)) != nil {
			return err
		}
		defer f.SetReadDeadline(time.Time{})
	}
	k.done.Wait()
	return err
}

// ask starts a read unless one is in progress.
func (k *keyboard) ask() <-chan typed {
	if !k.asked {
		k.asked = true
		k.want <- struct{}{}
	}
	return k.got
}

// ready starts a read in a terminal, so that what is typed from now on comes before what is drawn.
func (k *keyboard) ready() {
	if k.file != nil {
		k.ask()
	}
}

// take takes the outcome of a read.
func (k *keyboard) take(t typed) {
	if k.alone && rest.Match(t.data) {
		k.buf = append(k.buf, keyEscape)
	}
	k.asked, k.alone, k.ended = false, false, t.err
	k.buf = append(k.buf, t.data...)
}

// key returns the next byte that was typed, or a whole paste; nothing if more has to be read.
func (k *keyboard) key() (b byte, paste string, ok bool) {
	text := string(k.buf)
	switch n := len(text); {
	case n == 0, n > 1 && n < len(pasteBegins) && text == pasteBegins[:n], n < maxSequence && begun.MatchString(text):
		return 0, "", false
	case bytes.HasPrefix(k.buf, []byte(pasteBegins)):
		paste, rest, ok := bytes.Cut(k.buf[len(pasteBegins):], []byte(pasteEnds))
		if ok {
			k.buf = rest
		}
		return 0, string(paste), ok
	}
	b, k.buf = k.buf[0], k.buf[1:]
	k.alone = b == keyEscape && len(k.buf) == 0
	return b, "", true
}

// sequence takes the rest of a key's sequence, after its Escape. There is none if Escape was a key
// of its own.
func (k *keyboard) sequence() (keys string) {
	n := 0
	switch {
	case len(k.buf) > 1 && k.buf[0] == 'O': // the arrows and F1 to F4 of some terminals
		n = 2
	case len(k.buf) > 0 && k.buf[0] == '[':
		n = len(escapes.FindString("\x1b"+string(k.buf))) - 1
	}
	keys, k.buf = string(k.buf[:n]), k.buf[n:]
	return keys
}

// skip drops the rest of a key's sequence, or the key that was pressed together with Alt.
func (k *keyboard) skip(key byte) {
	if key == keyEscape && k.sequence() == "" && len(k.buf) > 0 && k.buf[0] >= ' ' {
		k.buf = k.buf[1:]
	}
}

// ahead takes what was typed and not used yet, as one text, for a question that is drawn now. The
// beginning of a key's sequence stays.
func (k *keyboard) ahead() string {
	for more := true; more && k.ended == nil; {
		select {
		case t := <-k.got:
			k.take(t)
		default: // what the terminal still holds was typed before, too
			if more = waiting(k.file) > 0; more {
				k.take(<-k.ask())
			}
		}
	}
	var text []byte
	for {
		key, paste, ok := k.key()
		switch {
		case !ok:
			if strings.TrimSpace(string(text)) == "" {
				return ""
			}
			return onOneLine(strings.Trim(string(text), "\n"))
		case key == keyEscape:
			k.sequence()
		case key == keyCtrlC: // it isn't lost
			k.buf = append([]byte{keyCtrlC}, k.buf...)
			return ""
		case key == keyCtrlU:
			text = nil
		case key == keyDelete, key == '\b':
			_, n := utf8.DecodeLastRune(text)
			text = text[:len(text)-n]
		case key == keyEnter:
			text = append(text, '\n')
		case key >= ' ':
			text = append(text, key)
		default:
			text = append(text, paste...)
		}
	}
}

// noWidth is how long lines may be where there is no terminal.
const noWidth = 400

// size returns how many columns and lines the terminal has.
func (k *keyboard) size() (width, height int) {
	width, height = noWidth, 24
	if k.file != nil {
		control(k.file, func(fd int) {
			if w, h, err := term.GetSize(fd); err == nil && w > 0 {
				width, height = max(w, 20), h
			}
		})
	}
	return width, height
}
