package prompt

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A compiler compiles the files of a folder to texts.
type compiler struct {
	fsys  fs.FS
	cfg   *Config
	dir   *folder
	flats map[string]*flat // by section
	open  []string         // the sections that are being compiled, each included by the one before
	bytes int              // of all sections
	problems
}

// compile checks everything and makes the texts.
func compile(fsys fs.FS, cfg *Config, dir *folder) (*texts, []error) {
	c := &compiler{fsys: fsys, cfg: cfg, dir: dir, flats: make(map[string]*flat)}
	for _, name := range dir.order {
		for _, err := range dir.files[name].errs {
			c.add(err)
		}
	}
	if len(dir.order) > maxFiles {
		c.at("", 0, "the Config and the includes name more than %d files", maxFiles)
	}
	cfg.named(func(section, field string) { c.find(section, "", 0, field) })
	c.variables()
	for _, name := range dir.order {
		if src := dir.files[name].src; src != nil {
			c.flatten(name)
			for _, part := range src.names {
				c.flatten(name + "#" + part)
			}
		}
	}
	var t *texts
	if c.bytes <= maxTotal {
		t = c.texts()
	}
	slices.SortStableFunc(c.list, func(a, b error) int {
		x, y := position(a), position(b)
		return cmp.Or(strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return t, c.list
}

// position returns where an error is; errors without a file come first.
func position(err error) Error {
	var e *Error
	if errors.As(err, &e) {
		return *e
	}
	return Error{}
}

// variables reports variables without a value.
func (c *compiler) variables() {
	sets := []map[string]string{c.cfg.Vars, nil}
	for _, m := range c.cfg.Modes {
		sets = append(sets, m.Vars)
	}
	runtime := make(map[string]string)
	for _, name := range c.cfg.RuntimeVars {
		runtime[name] = ""
	}
	known := sorted(append(sets, runtime)...)
	for _, file := range c.dir.order {
		src := c.dir.files[file].src
		if src == nil {
			continue
		}
		for _, n := range src.nodes {
			if n.kind != variable {
				continue
			}
			if _, ok := slices.BinarySearch(known, n.text); !ok {
				c.at(file, n.line, "the variable %s has no value%s", braces(n.text),
					hint(nearest(n.text, known), "the variables are ", known, braces))
			}
		}
	}
}

// bind inserts the values of variables, and reports variables without one to missing.
func bind(pieces []piece, vars map[string]string, missing func(piece)) []piece {
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.name != "" {
			if value, ok := vars[p.name]; ok {
				p = piece{text: value}
			} else {
				missing(p)
			}
		}
		out = append(out, p)
	}
	return join(out)
}

// whole returns the text of pieces; a variable counts as empty.
func whole(pieces []piece) string {
	if len(pieces) == 1 {
		return pieces[0].text
	}
	n := 0
	for _, p := range pieces {
		n += len(p.text)
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// layer returns the texts of a layer's sections.
func (c *compiler) layer(sections []string, vars map[string]string, missing func(piece)) [][]piece {
	out := make([][]piece, len(sections))
	for i, s := range sections {
		if f := c.flats[s]; f != nil {
			out[i] = bind(f.pieces, vars, missing)
		}
	}
	return out
}

// texts makes the layers.
func (c *compiler) texts() *texts {
	t := &texts{separator: c.cfg.Separator, modes: make(map[string]*modeText), sections: make(map[string]sectionText)}
	core := c.layer(c.cfg.Core, c.cfg.Vars, func(p piece) {
		c.misplaced(p, "the core, which is the same for all modes and at all times")
	})
	t.core = t.join(core)
	for _, m := range c.cfg.Modes {
		vars := maps.Clone(m.Vars)
		if vars == nil {
			vars = make(map[string]string)
		}
		maps.Copy(vars, c.cfg.Vars)
		own := c.layer(m.Sections, vars, func(p piece) { c.misplaced(p, fmt.Sprintf("the mode %q", m.Name)) })
		text := t.join(own)
		t.modes[m.Name] = &modeText{own: text, system: t.between(t.core, text), sections: own}
		t.names = append(t.names, m.Name)
	}
	t.coreSections = core
	t.runtime = c.layer(c.cfg.Runtime, c.cfg.Vars, func(p piece) {
		if !slices.Contains(c.cfg.RuntimeVars, p.name) {
			c.misplaced(p, "the runtime layer")
		}
	})
	extra := c.layer(c.cfg.Extra, c.cfg.Vars, func(p piece) {
		c.misplaced(p, "an extra section, which has only Config.Vars")
	})
	for section, f := range c.flats {
		var err error
		pieces := bind(f.pieces, c.cfg.Vars, func(p piece) {
			if err == nil {
				err = &Error{File: p.file, Line: p.line,
					Problem: fmt.Sprintf("the section %.64q uses the variable %s, whose value "+
						"depends on the mode or is set at run time; Set.Mode and Set.Runtime insert it", section,
						braces(p.name))}
			}
		})
		t.sections[section] = sectionText{whole(pieces), err}
	}
	t.version = t.hash(extra)
	return t
}

// misplaced reports a variable that isn't available where it is used.
func (c *compiler) misplaced(p piece, where string) {
	if slices.Contains(c.cfg.RuntimeVars, p.name) {
		c.at(p.file, p.line,
			"the variable %s changes from call to call, and would invalidate the prompt cache in %s; use it only in "+
				"the runtime layer",
			braces(p.name), where)
		return
	}
	for _, m := range c.cfg.Modes {
		if _, ok := m.Vars[p.name]; ok {
			c.at(p.file, p.line, "the variable %s has a value in the mode %q, but not in %s", braces(p.name), m.Name,
				where)
			return
		}
	}
}

// hash returns the version of the loaded texts: equal texts have equal versions on every machine.
func (t *texts) hash(extra [][]piece) string {
	h := sha256.New()
	put := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	layer := func(name string, sections [][]piece) {
		put(name)
		for _, s := range sections {
			put("section")
			for _, p := range s {
				put(p.name)
				put(p.text)
			}
		}
	}
	put(t.separator)
	layer("core", t.coreSections)
	for _, name := range t.names {
		put("mode " + name)
		layer("own", t.modes[name].sections)
	}
	layer("runtime", t.runtime)
	layer("extra", extra)
	return hex.EncodeToString(h.Sum(nil)[:6])
}
