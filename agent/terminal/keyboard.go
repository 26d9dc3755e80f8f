package terminal

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

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
	ended error
}

// A typed is the outcome of a read.
type typed struct {
	data []byte
	err  error
}

// Keys.
const (
	keyCtrlC, keyCtrlD, keyEnter, keyEscape, keyDelete = 3, 4, '\r', 27, 127

	pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"
)

// maxSequence is how many bytes a key's sequence may have, and begun matches one that lacks its
// last byte: a terminal may send it in pieces, and that byte alone could be a decision.
const maxSequence = 32

var begun = regexp.MustCompile("^\x1b(?:\\[[0-?]*[ -/]*|O)$")

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

// take takes the outcome of a read.
func (k *keyboard) take(t typed) {
	k.asked, k.ended = false, t.err
	k.buf = append(k.buf, t.data...)
}

// key returns the next byte that was typed, or a whole paste; nothing if more has to be read.
func (k *keyboard) key() (b byte, paste string, ok bool) {
	text := string(k.buf)
	switch n := len(text); {
	case n < len(pasteBegins) && text == pasteBegins[:n], n < maxSequence && begun.MatchString(text):
		return 0, "", false
	case bytes.HasPrefix(k.buf, []byte(pasteBegins)):
		paste, rest, ok := bytes.Cut(k.buf[len(pasteBegins):], []byte(pasteEnds))
		if ok {
			k.buf = rest
		}
		return 0, string(paste), ok
	}
	b, k.buf = k.buf[0], k.buf[1:]
	return b, "", true
}

// forget drops what was typed before a question could be read, up to a break of 0.3 s, and reports
// whether that was anything. The beginning of a key's sequence stays.
func (k *keyboard) forget() (any bool) {
	for wait := 10 * time.Millisecond; k.file != nil && k.ended == nil; wait = 300 * time.Millisecond {
		for ok := true; ok && len(k.buf) > 0; any = true {
			_, _, ok = k.key()
		}
		select {
		case t := <-k.ask():
			k.take(t)
		case <-time.After(wait):
			return any
		}
	}
	return any
}

// skip drops the rest of a key's sequence.
func (k *keyboard) skip(key byte) {
	switch {
	case key != keyEscape:
	case len(k.buf) > 1 && k.buf[0] == 'O': // the arrows and F1 to F4 of some terminals
		k.buf = k.buf[2:]
	default:
		k.buf = k.buf[len(escapes.FindString("\x1b"+string(k.buf)))-1:]
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
