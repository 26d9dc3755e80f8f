package terminal

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/pawlkit/pawl/internal/visible"
	"github.com/pawlkit/pawl/tools"
)

// A screen is where a conversation is shown, line by line. Below its last line a terminal shows
// what is in progress.
type screen struct {
	w      io.Writer
	tty    bool // it is a terminal
	color  bool
	crlf   bool // the terminal is raw: a line feed doesn't return
	width  int
	height int
	tools  *tools.Registry
	plain  bool
	hidden []string // tools
	failed error    // the first write error

	open   bool           // the last line has no line break yet
	voice  string         // whose text is shown: "", text or thought
	rest   string         // of that text, see whole
	editor *term.Terminal // while the person writes a line
	held   string         // the beginning of a line, meanwhile
	drawn  string         // what is in progress, as it is on the screen

	streamed bool // the reply in progress was shown as it came
	calls    []running
	state    string            // the state line, while a run is in progress
	shown    map[string]string // the steps of plans, as they were shown
}

// Colors, as ANSI codes.
const (
	faint = "2"
	bold  = "1"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func newScreen(w io.Writer, tty bool, registry *tools.Registry) *screen {
	return &screen{w: w, tty: tty, color: tty && os.Getenv("NO_COLOR") == "", width: noWidth, tools: registry,
		shown: make(map[string]string)}
}

func (s *screen) paint(color, text string) string {
	if !s.color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// raw says that the terminal is raw from now on, or that it isn't.
func (s *screen) raw(is bool) {
	if s.crlf = is; s.tty {
		s.write(map[bool]string{true: "\x1b[?2004h", false: "\x1b[?2004l"}[is]) // pastes are marked
	}
}

// Write writes what the editor of a line draws.
func (s *screen) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

func (s *screen) write(text string) {
	if s.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = s.Write([]byte(text))
}

// print prints text that is clean. While the person writes, whole lines are printed above that.
func (s *screen) print(text string) {
	switch {
	case text == "":
		return
	case s.editor != nil:
		s.held += text
		lines := s.held[:strings.LastIndexByte(s.held, '\n')+1]
		s.held = s.held[len(lines):]
		_, _ = s.editor.Write([]byte(lines))
	default:
		s.draw("")
		s.write(text)
	}
	s.open = !strings.HasSuffix(text, "\n")
}

// line prints a line, after ending the current one.
func (s *screen) line(format string, args ...any) {
	s.endLine()
	s.print(fmt.Sprintf(format, args...) + "\n")
}

// note prints a line that isn't part of the answer.
func (s *screen) note(format string, args ...any) {
	s.line("%s", s.paint(faint, fmt.Sprintf(format, args...)))
}

func (s *screen) endLine() {
	if s.open {
		s.print("\n")
	}
	s.voice, s.rest = "", ""
}

// edit says that the person begins to write a line, or with nil that it is written.
func (s *screen) edit(editor *term.Terminal) {
	if editor != nil {
		s.draw("")
		s.endLine()
	}
	held := s.held
	s.editor, s.held, s.open = editor, "", false
	s.print(held)
}

// draw draws what is in progress, in place of what was drawn before.
func (s *screen) draw(text string) {
	if text = short(text, s.width-1); text != s.drawn && s.tty && s.editor == nil && (!s.open || s.drawn != "") {
		s.drawn = text
		s.write("\r\x1b[K" + text)
	}
}

// say prints a part of the model's answer; thoughts are marked.
func (s *screen) say(voice, color, text string) {
	if s.voice != voice {
		s.endLine()
		if s.voice = voice; voice == "thought" {
			s.print(s.paint(faint, "· "))
		}
	}
	text, s.rest = whole(s.rest + text)
	s.print(s.paint(color, text))
}

// escapes matches control sequences: of colors and the cursor, with a text of their own such as a
// title of the window, and others. One that isn't ended ends with its line.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?|" +
	"(?:\x1b[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\x07\x1b\n\u009c]*(?:\x07|\x1b\\\\|\u009c)?|\x1b[ -/]*[0-~]?")

// clean returns a text without what controls a terminal, and without what nobody sees.
func clean(text string) string { return visible.Text(escapes.ReplaceAllString(text, "")) }

// whole returns what can be shown of a text that comes in pieces, and what waits for the next one,
// because a control sequence may go on in it.
func whole(text string) (shown, rest string) {
	at := escapes.FindAllStringIndex(text, -1)
	if n := len(at); n > 0 && at[n-1][1] == len(text) && len(text)-at[n-1][0] < 4096 {
		text, rest = text[:at[n-1][0]], text[at[n-1][0]:]
	}
	return clean(text), rest
}

// short returns text in one line of at most n columns.
func short(text string, n int) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	used := 0
	for i, r := range text {
		if used += max(utf8.RuneLen(r)-1, 1); used >= n && i+utf8.RuneLen(r) < len(text) { // wide ones have three bytes
			return text[:i] + "…"
		}
	}
	return text
}
