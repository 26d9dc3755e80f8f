package prompt

import (
	"fmt"
	"strings"
)

// A source is a file that has been parsed: its text, its variables and includes in order, and where its parts are.
type source struct {
	nodes []node
	parts map[string]span
	names []string // of the parts, in the order in which they begin
}

// A span is a part of a source: nodes from to to.
type span struct {
	from, to int
	line     int // of its beginning
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

// maxProblems bounds how many errors a file is read on for.
const maxProblems = 20

// parse reads a file's text, in which lines end in LF.
func parse(file, text string) (*source, []error) {
	p := parser{file: file, text: text, line: 1, src: &source{parts: make(map[string]span)}}
	for p.next() {
		if len(p.errs) >= maxProblems {
			p.wrong(p.line, "there is more wrong with the rest of the file")
			return p.src, p.errs
		}
	}
	for _, o := range p.open { // maxDepth and maxProblems bound them
		p.wrong(o.line, "the part {{#%s}} isn't closed; write {{/%s}} where it ends", o.name, o.name)
	}
	return p.src, p.errs
}

type parser struct {
	file string
	text string
	pos  int // what is before it has been read
	line int // of pos
	src  *source
	open []opened
	errs []error
}

// opened is a part whose end hasn't come yet.
type opened struct {
	name string
	span
}

func (p *parser) wrong(line int, format string, args ...any) {
	p.errs = append(p.errs, &Error{File: p.file, Line: line, Problem: fmt.Sprintf(format, args...)})
}

// next reads up to the next double braces and what is in them, and reports whether there is more.
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
	if slashes > 0 { // half of them stand for themselves
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

// tag reads what is in the double braces at at.
func (p *parser) tag(at int) {
	inner := p.text[at+len("{{"):]
	closing := "}}"
	comment := strings.HasPrefix(inner, "!")
	if strings.HasPrefix(inner, "!--") {
		closing = "--}}"
	}
	n := strings.Index(inner, closing)
	if eol := strings.IndexByte(inner, '\n'); n < 0 || !comment && eol >= 0 && eol < n {
		p.literal(at)
		if comment {
			p.wrong(p.line, "the comment has no end; write %s behind it", closing)
		} else {
			p.wrong(p.line, `{{ isn't closed on its line; write }}, or \{{ for two braces as text`)
		}
		p.pos = at + len("{{")
		return
	}
	end := at + len("{{") + n + len(closing)
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

// mark does what a tag says that is no comment.
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
		p.wrong(p.line, `%.64q in double braces is no variable, include, part or comment; write \{{ for two braces as text`, content)
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
	if len(p.open) >= maxDepth {
		p.wrong(p.line, "more than %d parts are open", maxDepth)
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
		p.wrong(p.line, "{{/%s}} comes while the part %q of line %d is open; close that first", name, o.name, o.line)
		return
	}
	p.open = p.open[:n-1]
	o.to = len(p.src.nodes)
	p.src.parts[name] = o.span
}

// wholeLine returns the line that a marker stands on alone, or the marker.
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

// literal takes the text up to to as it is.
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

// blank reports a line without anything but blanks.
func blank(s string) bool { return strings.Trim(s, " \t") == "" }

// validName reports what may name a variable or a part.
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
