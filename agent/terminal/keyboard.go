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

	again []stroke // taken back
	buf   []byte   // read, and not used yet
	alone bool     // the last of what was read is an Escape, which was used
	ended error
}

// A typed is the outcome of a read.
type typed struct {
	data []byte
	err  error
}

// A stroke is a key that was pressed, or what was pasted.
type stroke struct {
	key   rune // a character, or one of the keys below; 0: a paste
	paste string
}

// Keys. Arrows and the like have the codes of the control characters that do the same.
const (
	keyCtrlA, keyCtrlB, keyCtrlC, keyCtrlD, keyCtrlE, keyCtrlF        = 1, 2, 3, 4, 5, 6
	keyNewLine, keyCtrlK, keyEnter, keyCtrlN, keyCtrlP, keyCtrlU      = '\n', 11, '\r', 14, 16, 21
	keyCtrlW, keyEscape, keyDelete                                    = 23, 27, 127
	keyErase, keyWordLeft, keyWordRight, keyUnknown              rune = -1, -2, -3, -4

	pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"
)

// sequences are what terminals send for a key, or a key together with Alt, after an Escape.
var sequences = map[string]rune{"[A": keyCtrlP, "OA": keyCtrlP, "[B": keyCtrlN, "OB": keyCtrlN,
	"[C": keyCtrlF, "OC": keyCtrlF, "[D": keyCtrlB, "OD": keyCtrlB, "[H": keyCtrlA, "OH": keyCtrlA, "[1~": keyCtrlA,
	"[F": keyCtrlE, "OF": keyCtrlE, "[4~": keyCtrlE, "[3~": keyErase, "\r": keyNewLine, "\n": keyNewLine,
	"\x7f": keyCtrlW, "b": keyWordLeft, "f": keyWordRight, "[1;3D": keyWordLeft, "[1;3C": keyWordRight,
	"[1;5D": keyWordLeft, "[1;5C": keyWordRight}

// writes reports whether a stroke writes something.
func (s stroke) writes() bool {
	return s.paste != "" || s.key == keyNewLine || s.key == '\t' || s.key >= ' ' && s.key != keyDelete
}

// text returns what a stroke writes.
func (s stroke) text() string {
	if s.key == 0 {
		return s.paste
	}
	return string(s.key)
}

// maxSequence is how many bytes a key's sequence may have. A terminal may send one in pieces: begun
// matches one that lacks its last byte, and rest what follows an Escape that came alone.
const maxSequence = 32

var (
	begun = regexp.MustCompile("^\x1b{1,2}(?:\\[[0-?]*[ -/]*|\\[\\[|O)$") // two of them: together with Alt
	rest  = regexp.MustCompile(`^\x1b?(?:\[[0-?]*[ -/]*[@-~]|O[A-DFHP-S])`)
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

// take takes the outcome of a read, and reports whether it is the rest of a sequence whose Escape
// was used as a key of its own.
func (k *keyboard) take(t typed) (goesOn bool) {
	if goesOn = k.alone && rest.Match(t.data) && !bytes.HasPrefix(t.data, []byte(pasteBegins)); goesOn {
		k.buf = append(k.buf, keyEscape)
	}
	if string(t.data) == string(rune(keyCtrlC)) && k.pasting() {
		k.buf = append(k.buf, pasteEnds...)
	}
	k.asked, k.alone, k.ended = false, false, t.err
	k.buf = append(k.buf, t.data...)
	return goesOn
}

// pasting reports whether the end of a paste wasn't read yet. A Ctrl-C that is typed ends one whose
// end never comes.
func (k *keyboard) pasting() bool {
	return bytes.LastIndex(k.buf, []byte(pasteBegins)) > bytes.LastIndex(k.buf, []byte(pasteEnds))
}

// next returns the next stroke; none if more has to be read.
func (k *keyboard) next() (s stroke, ok bool) {
	if len(k.again) > 0 {
		s, k.again = k.again[0], k.again[1:]
		return s, true
	}
	for n := len(k.buf); n > 0; n = len(k.buf) {
		head := string(k.buf[:min(n, maxSequence)])
		switch {
		case n > 1 && n < len(pasteBegins) && head == pasteBegins[:n], n < maxSequence && begun.MatchString(head),
			!utf8.FullRune(k.buf) && k.ended == nil:
			return stroke{}, false
		case strings.HasPrefix(head, pasteBegins):
			paste, rest, ok := bytes.Cut(k.buf[len(pasteBegins):], []byte(pasteEnds))
			if ok {
				k.buf = rest
			}
			return stroke{paste: string(paste)}, ok
		case head[0] == keyEscape:
			k.buf = k.buf[1:]
			k.alone = n == 1
			return stroke{key: k.sequence()}, true
		}
		r, size := utf8.DecodeRune(k.buf)
		if k.buf = k.buf[size:]; r == keyEnter && len(k.buf) > 0 && k.buf[0] == '\n' {
			k.buf = k.buf[1:]
		}
		if r != utf8.RuneError && r != 0 {
			return stroke{key: r}, true
		}
	}
	return stroke{}, false
}

// sequence takes the rest of a key's sequence, after its Escape, or the key that was pressed
// together with Alt. There is none if Escape was a key of its own.
func (k *keyboard) sequence() rune {
	n := 0
	switch {
	case len(k.buf) == 0, k.buf[0] == keyCtrlC, k.buf[0] == keyCtrlD, bytes.HasPrefix(k.buf, []byte(pasteBegins)):
		return keyEscape
	case k.buf[0] == keyEscape && len(k.buf) > 1 && (k.buf[1] == '[' || k.buf[1] == 'O'): // an arrow and Alt
		k.buf = k.buf[1:]
		return k.sequence()
	case k.buf[0] == keyEscape:
		return keyEscape
	case k.buf[0] == 'O' && len(k.buf) > 1: // the arrows and F1 to F4 of some terminals
		n = 2
	case len(k.buf) > 2 && k.buf[0] == '[' && k.buf[1] == '[' && k.buf[2] > ' ' && k.buf[2] < keyDelete:
		n = 3 // F1 to F5 of the console of Linux
	case k.buf[0] == '[':
		n = len(escapes.FindString("\x1b"+string(k.buf[:min(len(k.buf), maxSequence)]))) - 1
	default:
		_, n = utf8.DecodeRune(k.buf)
	}
	key, ok := sequences[string(k.buf[:n])]
	if k.buf = k.buf[n:]; !ok {
		return keyUnknown
	}
	return key
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
	var e editor
	for {
		switch s, ok := k.next(); {
		case !ok:
			return strings.Trim(e.text, "\n")
		case s.key == keyCtrlC: // it isn't lost
			k.again = append(k.again, s)
			return ""
		case s.key == keyEnter:
			e.insert("\n")
		case s.key == keyCtrlU, s.key == keyDelete, s.key == '\b', s.writes():
			_, _ = e.press(s)
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
