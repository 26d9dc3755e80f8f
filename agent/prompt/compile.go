package prompt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/memory"
)

// Limits far above any prompt, against files that include each other many times.
const (
	maxFile  = 256 << 10 // bytes of a file
	maxTotal = 4 << 20   // bytes of all sections with their includes
)

// warnTokens is the size of a system text above which a warning is logged. It's a reminder to
// shorten, not a limit of any model.
const warnTokens = 5000

// separator separates sections and layers, as an agent does its instructions and those of a mode.
const separator = "\n\n"

// A piece is a text, or a variable whose value isn't known yet.
type piece struct {
	text string
	name string // of the variable; "" if it's text
	file string
	line int
}

// A section is a file or a part of one, with its includes inserted.
type section struct {
	pieces []piece
	done   bool // false while its includes are being compiled
	failed bool // it has an error, which has been reported
}

// A compiler compiles the files of a folder to texts.
type compiler struct {
	fsys     fs.FS
	cfg      *Config
	files    map[string]*source // nil: it has an error, which has been reported
	sections map[string]*section
	open     []string // the sections that are being compiled, each included by the one before
	bytes    int      // of all sections
	problems
}

// compile reads and checks everything, and makes the texts.
func compile(fsys fs.FS, cfg *Config) (*texts, error) {
	c := &compiler{fsys: fsys, cfg: cfg, files: make(map[string]*source), sections: make(map[string]*section)}
	t := &texts{modes: make(map[string]string)}
	layer := func(name string, sections []string, vars map[string]string, where string) [][]piece {
		out := make([][]piece, len(sections))
		for i, s := range sections {
			found := cmp.Or(c.find(s, "", 0, fmt.Sprintf("%s[%d] names ", name, i)), new(section))
			out[i] = bind(found.pieces, vars, func(p piece) { c.missing(p, where) })
		}
		return out
	}
	t.core = join(layer("Config.Core", cfg.Core, cfg.Vars,
		"the core, which is the same for all modes and at all times"))
	for i, m := range cfg.Modes {
		vars := make(map[string]string)
		maps.Copy(vars, cfg.Vars)
		maps.Copy(vars, m.Vars)
		own := join(layer(fmt.Sprintf("Config.Modes[%d].Sections", i), m.Sections, vars,
			fmt.Sprintf("the mode %q", m.Name)))
		if t.core != "" && own != "" {
			own = separator + own
		}
		t.modes[m.Name] = t.core + own
		t.names = append(t.names, m.Name)
	}
	t.runtime = layer("Config.Runtime", cfg.Runtime, cfg.Vars, "")
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q", t.core, t.modes) // in the order of their names
	for _, section := range t.runtime {
		fmt.Fprint(hash, " section")
		for _, p := range section {
			fmt.Fprintf(hash, " %q %q", p.name, p.text)
		}
	}
	t.version = hex.EncodeToString(hash.Sum(nil)[:6])
	return t, c.err()
}

// missing reports a variable that isn't available where it is used; "" is the runtime layer.
func (c *compiler) missing(p piece, where string) {
	if slices.Contains(c.cfg.RuntimeVars, p.name) {
		if where != "" {
			c.at(p.file, p.line, "the variable %s changes from call to call, and would invalidate the prompt cache in "+
				"%s; use it only in the runtime layer", braces(p.name), where)
		}
		return
	}
	known := slices.AppendSeq(slices.Clone(c.cfg.RuntimeVars), maps.Keys(c.cfg.Vars))
	for _, m := range c.cfg.Modes {
		known = slices.AppendSeq(known, maps.Keys(m.Vars))
	}
	slices.Sort(known)
	c.at(p.file, p.line, "the variable %s has no value in %s%s", braces(p.name), cmp.Or(where, "the runtime layer"),
		list("there are ", slices.Compact(known), braces))
}

// find returns a section, or nil if it doesn't exist or its file has errors, which it reports. A
// line of a file, or a field of the Config, refers to the section.
func (c *compiler) find(name, file string, line int, by string) *section {
	wrong := func(cause error, format string, args ...any) *section {
		c.add(&problem{file, line, by + quote(name) + fmt.Sprintf(format, args...), cause})
		return nil
	}
	from, part, isPart := strings.Cut(name, "#")
	if from == "." || !fs.ValidPath(from) {
		return wrong(fs.ErrInvalid, "; a path begins at the root of the file system, without / and without ..")
	}
	src, err := c.file(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wrong(fs.ErrNotExist, ", and there is no such file")
	case src == nil:
		return nil
	}
	nodes, first := src.nodes, 0
	if isPart {
		p, ok := src.parts[part]
		if !ok {
			return wrong(nil, ", and the file has no part %.64q%s", part, list("its parts are ", src.names, quote))
		}
		nodes, first = nodes[p.from:p.to], p.line
	}
	if s := c.sections[name]; s != nil {
		return s
	}
	s := &section{}
	c.sections[name] = s
	c.open = append(c.open, name)
	for _, n := range nodes {
		c.insert(s, n, from)
	}
	c.open = c.open[:len(c.open)-1]
	s.trim()
	if s.done = true; len(s.pieces) == 0 && !s.failed {
		c.at(from, first, "%s is empty; a section has some text", quote(name))
		s.failed = true
	}
	return s
}

// insert adds what a node of a file stands for to a section.
func (c *compiler) insert(s *section, n node, file string) {
	if c.bytes > maxTotal {
		s.failed = true
		return
	}
	switch n.kind {
	case literal:
		c.put(s, piece{text: n.text})
	case variable:
		c.put(s, piece{name: n.text, file: file, line: n.line})
	case include:
		other := c.find(n.text, file, n.line, "includes ")
		if other != nil && !other.done {
			way := append(slices.Clone(c.open[slices.Index(c.open, n.text):]), n.text)
			c.at(file, n.line, "the section %s includes itself: %s", quote(n.text), strings.Join(way, " > "))
		}
		if other == nil || !other.done || other.failed {
			s.failed = true
			return
		}
		for _, p := range other.pieces {
			c.put(s, p)
		}
	}
}

// put appends a piece. A variable counts with the memory that it needs.
func (c *compiler) put(s *section, p piece) {
	if c.bytes += len(p.text) + len(p.name) + 64; c.bytes > maxTotal {
		c.at("", 0, "all sections with their includes have more than %d bytes; is one included many times?", maxTotal)
		return
	}
	s.pieces = append(s.pieces, p)
}

var (
	blankBegin = regexp.MustCompile(`^(?:[ \t]*\n)+`)
	blankEnd   = regexp.MustCompile(`(?:\n[ \t]*)+$`)
)

// trim joins neighboring texts, and removes blank lines at both ends.
func (s *section) trim() {
	var out []piece
	for _, p := range s.pieces {
		if n := len(out); n > 0 && p.name == "" && out[n-1].name == "" {
			out[n-1].text += p.text
		} else {
			out = append(out, p)
		}
	}
	if n := len(out); n > 0 { // a variable counts as text
		if first := &out[0]; first.name == "" {
			first.text = blankBegin.ReplaceAllString(first.text, "")
		}
		if last := &out[n-1]; last.name == "" {
			last.text = blankEnd.ReplaceAllString(last.text, "")
			if n == 1 && blank(last.text) {
				last.text = ""
			}
		}
	}
	s.pieces = slices.DeleteFunc(out, func(p piece) bool { return p.name == "" && p.text == "" })
}

// file returns a parsed file, or nil if it has errors, which it reports. The error is one that
// matches fs.ErrNotExist.
func (c *compiler) file(name string) (*source, error) {
	if src, ok := c.files[name]; ok {
		return src, nil
	}
	raw, err := readFile(c.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.files[name] = nil
	if err != nil {
		c.add(&problem{name, 0, err.Error(), err})
		return nil, nil
	}
	for i, line := range strings.SplitAfter(raw, "\n") {
		if !utf8.ValidString(line) {
			c.at(name, i+1, "the line isn't valid UTF-8; save the file as UTF-8")
			return nil, nil
		}
	}
	src, errs := parse(name, strings.ReplaceAll(strings.TrimPrefix(raw, "\uFEFF"), "\r\n", "\n"))
	for _, err := range errs {
		c.add(err)
	}
	if len(errs) == 0 {
		c.files[name] = src
	}
	return c.files[name], nil
}

// readFile reads a file. A panic of the file system is an error.
func readFile(fsys fs.FS, name string) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading it panicked: %v", p)
		}
	}()
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular(): // a pipe might never end
		return "", errors.New("it isn't a regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("it has more than %d bytes; split it", maxFile)
	}
	raw, err := fs.ReadFile(fsys, name)
	return string(raw), err
}

// warn logs the system texts above the threshold.
func (t *texts) warn(cfg *Config) {
	systems := t.modes
	if len(t.names) == 0 {
		systems = map[string]string{"": t.core}
	}
	for _, mode := range slices.Sorted(maps.Keys(systems)) {
		text := systems[mode]
		if n := new(memory.Estimator).CountText(text); n > warnTokens {
			cfg.Logger.Warn("prompt: a system text is large; shorten it, or move parts that are seldom needed",
				slog.String("mode", mode), slog.Int("tokens", n), slog.Int("threshold", warnTokens),
				slog.Int("bytes", len(text)), slog.String("version", t.version))
		}
	}
}
