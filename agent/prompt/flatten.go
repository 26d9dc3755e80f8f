package prompt

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A piece is a text, or a variable whose value isn't known yet.
type piece struct {
	text string
	name string // of the variable; "" if it's text
	file string
	line int
}

// A flat is a section with its includes inserted.
type flat struct {
	pieces []piece
	bytes  int
	done   bool // false while its includes are being compiled
	failed bool // it has an error, which has been reported
}

// find reports whether a section exists and its file has no errors; if not, it reports the error.
// The reference to the section is in a line of a file, or in a field of the Config.
func (c *compiler) find(section, file string, line int, field string) bool {
	wrong := func(cause error, format string, args ...any) {
		by := "includes "
		if file == "" {
			by = field + " names "
		}
		c.add(&Error{File: file, Line: line, Problem: by + quote(section) + fmt.Sprintf(format, args...), Err: cause})
	}
	name, part, isPart := strings.Cut(section, "#")
	if !validPath(name) {
		wrong(fs.ErrInvalid, "; a path begins at the root of the file system, without / and without ..")
		return false
	}
	found := c.dir.files[name]
	if found == nil { // above maxFiles
		return false
	}
	if found.gone {
		tail := ""
		if near := nearest(name, siblings(c.fsys, name)); near != "" {
			tail = "; did you mean " + quote(near) + "?"
		}
		wrong(fs.ErrNotExist, ", and there is no such file%s", tail)
		return false
	}
	if len(found.errs) > 0 {
		return false // reported already
	}
	if _, ok := found.src.parts[part]; isPart && !ok {
		known := found.src.names
		wrong(nil, ", and the file has no part %.64q%s", part,
			hint(nearest(part, known), "its parts are ", known, quote))
		return false
	}
	return true
}

// flatten inserts the includes of an existing section.
func (c *compiler) flatten(section string) *flat {
	if f := c.flats[section]; f != nil {
		return f
	}
	f := &flat{}
	c.flats[section] = f
	if c.bytes > maxTotal {
		f.done, f.failed = true, true
		return f
	}
	c.open = append(c.open, section)
	file, part, isPart := strings.Cut(section, "#")
	src := c.dir.files[file].src
	nodes, line := src.nodes, 0
	if isPart {
		s := src.parts[part]
		nodes, line = nodes[s.from:s.to], s.line
	}
	f.failed = len(c.dir.files[file].errs) > 0
	for _, n := range nodes {
		switch n.kind {
		case literal:
			f.add(piece{text: n.text})
		case variable:
			f.add(piece{name: n.text, file: file, line: n.line})
		case include:
			c.include(f, n, file)
		}
		if f.bytes > maxText {
			c.at(file, n.line,
				"the section with its includes has more than %d bytes; does it include a section many times?", maxText)
			f.pieces, f.bytes, f.failed = nil, 0, true
			break
		}
	}
	f.trim()
	if len(f.pieces) == 0 && !f.failed {
		c.at(file, line, "%s is empty; a section has some text", quote(section))
		f.failed = true
	}
	if c.bytes += f.bytes; c.bytes > maxTotal {
		c.at("", 0, "all sections and parts with their includes have more than %d bytes", maxTotal)
	}
	c.open = c.open[:len(c.open)-1]
	f.done = true
	return f
}

// include adds the section that a node includes to f.
func (c *compiler) include(f *flat, n node, file string) {
	if !c.find(n.text, file, n.line, "") {
		f.failed = true
		return
	}
	other := c.flatten(n.text)
	if !other.done {
		way := append(slices.Clone(c.open[slices.Index(c.open, n.text):]), n.text)
		c.at(file, n.line, "the section %s includes itself: %s", quote(n.text), strings.Join(way, " > "))
		f.failed = true
		return
	}
	f.failed = f.failed || other.failed
	for _, p := range other.pieces {
		f.add(p)
	}
}

// add appends a piece. A variable counts with the memory that it needs.
func (f *flat) add(p piece) {
	if p.name == "" {
		f.bytes += len(p.text)
	} else {
		f.bytes += len(p.name) + 64
	}
	f.pieces = append(f.pieces, p)
}

// trim joins neighboring texts, and removes blank lines at both ends.
func (f *flat) trim() {
	f.pieces = join(f.pieces)
	if n := len(f.pieces); n > 0 && f.pieces[0].name == "" {
		text := f.pieces[0].text
		for {
			i := strings.IndexByte(text, '\n')
			if i < 0 || !blank(text[:i]) {
				break
			}
			text = text[i+1:]
		}
		f.pieces[0].text = text
	}
	if n := len(f.pieces); n > 0 && f.pieces[n-1].name == "" {
		text := f.pieces[n-1].text
		for {
			i := strings.LastIndexByte(text, '\n')
			if i < 0 || !blank(text[i+1:]) {
				break
			}
			text = text[:i]
		}
		if n == 1 && blank(text) {
			text = ""
		}
		f.pieces[n-1].text = text
	}
	f.pieces = slices.DeleteFunc(f.pieces, func(p piece) bool { return p.name == "" && p.text == "" })
}

// join joins neighboring texts.
func join(pieces []piece) []piece {
	var out []piece
	for i := 0; i < len(pieces); {
		if pieces[i].name != "" {
			out = append(out, pieces[i])
			i++
			continue
		}
		end := i
		for end < len(pieces) && pieces[end].name == "" {
			end++
		}
		out = append(out, piece{text: whole(pieces[i:end])})
		i = end
	}
	return out
}
