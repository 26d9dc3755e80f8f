package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

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
	speech

	open   bool    // the last line has no line break yet
	editor *editor // while the person writes a line
	held   string  // the beginning of a line, meanwhile
	below  area    // the line, or what is in progress, as it is on the screen

	streamed bool // the reply in progress was shown as it came
	calls    []running
	state    string            // the state line, while a run is in progress
	shown    map[string]string // the steps of plans, as they were shown
}

// A speech is what the model says at the moment.
type speech struct {
	voice string  // whose text is shown: "", text or thought
	last  string  // whose text was, before something else came between
	rest  string  // of that text, see whole
	lines wrapper // of that text
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

func (s *screen) write(text string) {
	if s.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if _, err := io.WriteString(s.w, text); err != nil && s.failed == nil {
		s.failed = err
	}
}

// print prints text that is clean. While the person writes, whole lines are printed above that.
func (s *screen) print(text string) {
	switch {
	case text == "":
		return
	case s.editor != nil:
		s.held += text
		lines := s.held[:strings.LastIndexByte(s.held, '\n')+1]
		if s.held = s.held[len(lines):]; lines != "" {
			s.put(area{})
			s.write(lines)
			s.put(s.editor.layout(s, false))
		}
	default:
		s.put(area{})
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
	// A block of code may go on.
	s.speech = speech{last: cmp.Or(s.voice, s.last), lines: wrapper{fence: s.lines.fence}}
}

// edit says that the person begins to write a line, or with nil that it is written.
func (s *screen) edit(e *editor) {
	if e != nil {
		s.put(area{})
		s.endLine()
		s.editor = e
		s.put(e.layout(s, false))
		return
	}
	s.editor.at = len(s.editor.text)
	s.put(s.editor.layout(s, true))
	s.write("\n")
	held := s.held
	s.editor, s.held, s.open, s.below = nil, "", false, area{}
	s.print(held)
}

// draw draws the line that is written, or in one row what is in progress.
func (s *screen) draw(text string) {
	text = short(text, s.width-1)
	switch {
	case !s.tty:
	case s.editor != nil:
		s.put(s.editor.layout(s, false))
	case text == "":
		s.put(area{})
	case !s.open:
		n := columns(text)
		s.put(area{rows: []string{text}, columns: []int{n}, x: n, width: s.width})
	}
}

// say prints a part of the model's answer; thoughts are marked.
func (s *screen) say(voice, color, text string) {
	if s.voice != voice {
		if s.endLine(); s.last != voice { // a thought may leave its block of code open
			s.lines = wrapper{}
		}
		if s.voice = voice; voice == "thought" {
			s.print(s.paint(faint, s.lines.add("· ", s.width)))
		}
	}
	if text, s.rest = whole(s.rest + text); s.tty {
		text = s.lines.add(text, s.width)
	}
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
