package prompt

import (
	"fmt"
	"strings"
)

// A source is a parsed file: its text, its variables and includes in order, and its parts.
type source struct {
	nodes []node
	parts map[string]span
	names []string // names of the parts, in the order in which they begin
}

// A span is a part of a source: the nodes from from to to.
type span struct {
	from, to int
	line     int // line of its beginning
}

type node struct {
	kind nodeKind
	text string // the text, the variable's name, or the section to include
	line int
}

type nodeKind uint8

const (
	literal nodeKind = iota
	variable
	include
)

// parse parses a file's text, in which lines end in LF.
func parse(file, text string) (*source, []*problem) {
	p := parser{file: file, text: text, line: 1, src: &source{parts: make(map[string]span)}}
	for p.next() {
	}
	for _, o := range p.open {
		p.wrong(o.line, "the part {{#%s}} isn't closed; write {{/%s}} where it ends", o.name, o.name)
	}
	return p.src, p.errs
}

type parser struct {
	file string
	text string
	pos  int // position in the text
	line int // line of pos
	src  *source
	open []opened
	errs []*problem
}

// An opened is a part that isn't closed yet.
type opened struct {
	name string
	span
}

func (p *parser) wrong(line int, format string, args ...any) {
	p.errs = append(p.errs, &problem{file: p.file, line: line, text: fmt.Sprintf(format, args...)})
}

// next parses up to and including the next double braces, and reports whether there is more.
func (p *parser) next() bool {
	i := strings.Index(p.text[p.pos:], "{{")
	if i < 0 {
		p.literal(len(p.text))
		return false
	}
	at := p.pos + i
	slashes := 0
	for at-slashes > p.pos && p.text[at-slashes-1] == '\\' {
		slashes++
	}
	if slashes > 0 { // half of them are literal
		p.literal(at - slashes)
		p.emit(literal, strings.Repeat(`\`, slashes/2))
		p.pos = at
		if slashes%2 == 1 {
			p.literal(at + len("{{"))
			return true
		}
	}
	p.tag(at)
	return true
}

// tag parses the double braces at at.
func (p *parser) tag(at int) {
	inner := p.text[at+len("{{"):]
	comment := strings.HasPrefix(inner, "!")
	n := strings.Index(inner, "}}")
	if eol := strings.IndexByte(inner, '\n'); n < 0 || !comment && eol >= 0 && eol < n {
		p.literal(at)
		if comment {
			p.wrong(p.line, "the comment isn't closed; write }} at its end")
		} else {
			p.wrong(p.line, `{{ isn't closed on its line; write }}, or \{{ for two braces as text`)
		}
		p.pos = at + len("{{")
		return
	}
	end := at + len("{{") + n + len("}}")
	content := strings.Trim(inner[:n], " \t")
	if comment || strings.HasPrefix(content, "#") || strings.HasPrefix(content, "/") {
		at, end = p.wholeLine(at, end)
	}
	p.literal(at)
	if !comment {
		p.mark(content)
	}
	p.skip(end)
}

// mark handles a tag that isn't a comment.
func (p *parser) mark(content string) {
	rest := ""
	if content != "" {
		rest = content[1:]
	}
	switch {
	case strings.HasPrefix(content, ">"):
		p.emit(include, strings.Trim(rest, " \t"))
	case strings.HasPrefix(content, "#") && validName(rest):
		p.begin(rest)
	case strings.HasPrefix(content, "/") && validName(rest):
		p.end(rest)
	case validName(content):
		p.emit(variable, content)
	default:
		p.wrong(p.line,
			`%.64q in double braces isn't a variable, include, part or comment; write \{{ for two braces as text`,
			content)
	}
}

func (p *parser) begin(name string) {
	if s, ok := p.src.parts[name]; ok {
		p.wrong(p.line, "the file has a part %q already, at line %d", name, s.line)
	}
	for _, o := range p.open {
		if o.name == name {
			p.wrong(p.line, "the part %q is within itself", name)
		}
	}
	p.open = append(p.open, opened{name, span{from: len(p.src.nodes), line: p.line}})
	p.src.names = append(p.src.names, name)
}

func (p *parser) end(name string) {
	n := len(p.open)
	if n == 0 {
		p.wrong(p.line, "{{/%s}} closes a part that isn't open; write {{#%s}} where it begins", name, name)
		return
	}
	o := p.open[n-1]
	if o.name != name {
		p.wrong(p.line, "{{/%s}} is inside of the part %q of line %d; close that first", name, o.name, o.line)
		return
	}
	p.open = p.open[:n-1]
	o.to = len(p.src.nodes)
	p.src.parts[name] = o.span
}

// wholeLine returns the range of the line if the marker is alone on it, else that of the marker.
func (p *parser) wholeLine(at, end int) (from, to int) {
	from = strings.LastIndexByte(p.text[:at], '\n') + 1
	to = len(p.text)
	if i := strings.IndexByte(p.text[end:], '\n'); i >= 0 {
		to = end + i + 1
	}
	if !blank(p.text[from:at]) || !blank(strings.TrimSuffix(p.text[end:to], "\n")) {
		return at, end
	}
	return from, to
}

// literal emits the text up to to unchanged.
func (p *parser) literal(to int) {
	p.emit(literal, p.text[p.pos:to])
	p.skip(to)
}

func (p *parser) skip(to int) {
	p.line += strings.Count(p.text[p.pos:to], "\n")
	p.pos = to
}

func (p *parser) emit(kind nodeKind, text string) {
	if text != "" || kind != literal {
		p.src.nodes = append(p.src.nodes, node{kind, text, p.line})
	}
}

// blank reports whether a line has only blanks and tabs.
func blank(s string) bool { return strings.Trim(s, " \t") == "" }

// validName reports whether s can be the name of a variable or a part.
func validName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '-' || c == '.' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}
