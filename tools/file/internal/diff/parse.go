package diff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// None is the name of a file that doesn't exist, in a diff.
const None = "/dev/null"

// mostHunks is how many hunks a diff may have.
const mostHunks = 1000

// A Patch is the change of one file in a unified diff.
type Patch struct {
	Name  string // as the diff has it
	New   bool   // the file is created
	Hunks []Hunk
}

// OnlyAdds reports whether the patch has nothing but added lines.
func (p *Patch) OnlyAdds() bool {
	for _, h := range p.Hunks {
		if len(h.side('-')) > 0 {
			return false
		}
	}
	return true
}

// A Hunk is a change in one place of a file.
type Hunk struct {
	Line  int // of the diff, from 1
	at    int // first line of the file, from 1; 0: unknown
	lines []hunkLine
}

// A hunkLine is one line of a hunk.
type hunkLine struct {
	sign  byte // ' ', '-' or '+'
	text  string
	open  bool // it has no line end
	blank bool // not even the sign was there
}

var numbers = regexp.MustCompile(`^@@+ *-(\d+)(?:,(\d+))? +\+(\d+)(?:,(\d+))?`)

// Parse reads a unified diff as people and models write it. Line numbers may be wrong or missing,
// so may the numbers of lines and the spaces of empty lines; text and fences around the diff are
// ignored; headers may be those of git and of OpenAI's apply_patch. Known tells whether a name is
// that of a file of the diff, where a header could also be a changed line. What isn't a change of
// lines, such as that of a name or of permissions, is an error.
func Parse(text string, known func(name string) bool) ([]*Patch, error) {
	p := &parser{lines: strings.Split(text, "\n"), known: known}
	for i, line := range p.lines {
		p.lines[i] = strings.TrimSuffix(line, "\r")
	}
	for p.at < len(p.lines) {
		if err := p.next(); err != nil {
			return nil, fmt.Errorf("line %d of the patch %w", p.at+1, err)
		}
		p.at++
	}
	p.end()
	n := 0
	for _, f := range p.files {
		if n += len(f.Hunks); n > mostHunks {
			return nil, fmt.Errorf("the patch has more than %d changes; make several of it", mostHunks)
		}
		if len(f.Hunks) == 0 {
			return nil, fmt.Errorf("the patch changes nothing in %s", f.Name)
		}
	}
	if len(p.files) == 0 {
		return nil, fmt.Errorf(`the patch has no file; it begins with the lines "--- a/NAME" and "+++ b/NAME", and ` +
			`each change with a line "@@ -LINE,COUNT +LINE,COUNT @@"`)
	}
	return p.files, nil
}

// A parser reads a diff line by line.
type parser struct {
	lines    []string
	at       int // the current line, from 0
	known    func(name string) bool
	files    []*Patch
	file     *Patch // nil: outside of files
	hunk     *Hunk  // nil: none was begun
	old, now int    // lines that the hunk still has, as its header says
	cut      bool   // the file ended in a line that may be an unchanged one without its space
}

// refusals are beginnings of lines that say what a patch can't do.
var refusals = []struct{ line, problem string }{
	{"*** Delete File: ", "deletes a file; call the tool for that"},
	{"deleted file mode ", "deletes a file; call the tool for that"},
	{"*** Move to: ", "moves a file; call the tool for that"},
	{"rename from ", "moves a file; call the tool for that"},
	{"copy from ", "copies a file; create the copy with all of its lines"},
	{"old mode ", "changes permissions, which a patch can't"},
	{"GIT binary patch", "changes a binary file, which a patch can't"},
	{"Binary files ", "changes a binary file, which a patch can't"},
}

// next reads the current line, and the one after it if both are a header.
func (p *parser) next() error {
	line := p.lines[p.at]
	if name, ok := p.header(); ok {
		old := nameOf(strings.TrimPrefix(line, "---"))
		p.at++
		if name == None {
			return fmt.Errorf("deletes a file; call the tool for that")
		}
		p.begin(name, old == None)
		return nil
	}
	if name, ok := strings.CutPrefix(line, "*** Update File: "); ok {
		p.begin(nameOf(name), false)
		return nil
	}
	if name, ok := strings.CutPrefix(line, "*** Add File: "); ok {
		p.begin(nameOf(name), true)
		return nil
	}
	if p.file == nil || line == "" || !strings.Contains(" +-\\", line[:1]) {
		for _, r := range refusals {
			if strings.HasPrefix(line, r.line) {
				return fmt.Errorf("%s", r.problem)
			}
		}
	}
	switch {
	case strings.HasPrefix(line, "*** End of File"):
	case isAround(line):
		opens := strings.HasPrefix(line, "```") && line != "```"
		if opens && p.hunk != nil && p.old > 0 && p.now > 0 {
			return fmt.Errorf("begins with none of a space, + and -: %.60q", line)
		}
		p.end()
		p.cut = p.file != nil && line != "*** End Patch" || p.cut
		p.file = nil
	case p.signed():
		p.end()
		p.file = nil
	case p.file == nil: // around the diff
		if strings.HasPrefix(line, "@@") {
			return fmt.Errorf(`has a change before the lines "--- a/NAME" and "+++ b/NAME"`)
		}
		if p.cut && line != "" && (line[0] == '+' || line[0] == '-') {
			return fmt.Errorf("has a change outside of a hunk: %.60q; each unchanged line of a hunk begins with a "+
				"space", line)
		}
	case strings.HasPrefix(line, "@@"):
		p.end()
		p.open(line)
	case line == "":
		if p.hunk != nil {
			p.add(hunkLine{sign: ' ', blank: true})
		}
	case line[0] == '\\':
		if p.hunk != nil && len(p.hunk.lines) > 0 {
			p.hunk.lines[len(p.hunk.lines)-1].open = true
		}
	case line[0] == ' ', line[0] == '-', line[0] == '+':
		if p.hunk == nil {
			p.open("@@")
		}
		p.add(hunkLine{sign: line[0], text: line[1:]})
	default:
		return fmt.Errorf("begins with none of a space, + and -: %.60q", line)
	}
	return nil
}

// isAround reports whether a line is one around the diff of a file.
func isAround(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "diff ") ||
		strings.HasPrefix(line, "Index: ")
}

// header reports whether the current line and the one after it are the header of a file, and
// returns its name.
func (p *parser) header() (name string, ok bool) {
	if p.at+1 == len(p.lines) {
		return "", false
	}
	from, isFrom := strings.CutPrefix(p.lines[p.at], "--- ")
	to, isTo := strings.CutPrefix(p.lines[p.at+1], "+++ ")
	from, to = nameOf(from), nameOf(to)
	if !isFrom || !isTo || p.hunk != nil && p.old > 0 && p.now > 0 && !p.known(from) && !p.known(to) {
		return "", false
	}
	return to, true
}

// signed reports whether the current line begins the signature of a mail, as that of git
// format-patch. A hunk whose header counts too few lines may go on with such a line.
func (p *parser) signed() bool {
	if p.hunk == nil || len(p.hunk.lines) == 0 || p.old != 0 || p.now != 0 || p.lines[p.at] != "-- " ||
		p.at+1 == len(p.lines) {
		return false
	}
	next := p.lines[p.at+1]
	return next != "" && !strings.Contains(" +-@\\", next[:1]) && !isAround(next)
}

// nameOf returns the name in a header, without quotes and what follows a tab, such as a time.
func nameOf(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if name, err := strconv.Unquote(s); err == nil {
		return name
	}
	return s
}

// begin begins a file.
func (p *parser) begin(name string, isNew bool) {
	p.end()
	p.file, p.cut = &Patch{Name: name, New: isNew}, false
	p.files = append(p.files, p.file)
}

// open begins a hunk.
func (p *parser) open(header string) {
	p.hunk, p.old, p.now = &Hunk{Line: p.at + 1}, 0, 0
	m := numbers.FindStringSubmatch(header)
	if m == nil {
		return
	}
	p.hunk.at, _ = strconv.Atoi(m[1])
	p.old, p.now = 1, 1
	if m[2] != "" {
		p.old, _ = strconv.Atoi(m[2])
	}
	if m[4] != "" {
		p.now, _ = strconv.Atoi(m[4])
	}
}

func (p *parser) add(l hunkLine) {
	if l.sign != '+' {
		p.old--
	}
	if l.sign != '-' {
		p.now--
	}
	p.hunk.lines = append(p.hunk.lines, l)
}

// end ends the hunk. Blank lines at its end may be those after the diff.
func (p *parser) end() {
	if p.hunk == nil {
		return
	}
	h := p.hunk
	for n := len(h.lines); n > 0 && h.lines[n-1].blank; n-- {
		h.lines = h.lines[:n-1]
	}
	changes := false
	for _, l := range h.lines {
		changes = changes || l.sign != ' '
	}
	if changes {
		p.file.Hunks = append(p.file.Hunks, *h)
	}
	p.hunk = nil
}
