package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// A content is the result of reading a path.
type content struct {
	text string
	src  *source // nil if it couldn't be read
	errs []error // of reading and parsing
	gone bool    // the file doesn't exist
}

// same reports whether two contents come from the same bytes, or have the same error.
func (c *content) same(d *content) bool {
	if c.text != d.text || c.gone != d.gone || len(c.errs) != len(d.errs) {
		return false
	}
	for i := range c.errs {
		if c.errs[i].Error() != d.errs[i].Error() {
			return false
		}
	}
	return true
}

// A folder has all the files that a Config needs, as read at one time. It never changes.
type folder struct {
	files map[string]*content
	order []string // paths, in the order in which they were first named
}

func (f *folder) same(g *folder) bool {
	if len(f.order) != len(g.order) {
		return false
	}
	for name, c := range f.files {
		if d := g.files[name]; d == nil || !c.same(d) {
			return false
		}
	}
	return true
}

// gather reads the files of the Config and their includes.
func gather(fsys fs.FS, cfg *Config) *folder {
	f := &folder{files: make(map[string]*content)}
	want := func(section string) {
		name, _, _ := strings.Cut(section, "#")
		if f.files[name] == nil && validPath(name) && len(f.order) <= maxFiles {
			f.files[name] = &content{}
			f.order = append(f.order, name)
		}
	}
	cfg.named(func(section, _ string) { want(section) })
	for i := 0; i < len(f.order); i++ {
		c := f.files[f.order[i]]
		c.read(fsys, f.order[i], cfg.MaxFile)
		if c.src == nil {
			continue
		}
		for _, n := range c.src.nodes {
			if n.kind == include {
				want(n.text)
			}
		}
	}
	return f
}

// validPath reports whether name can be the path of a file within an fs.FS.
func validPath(name string) bool { return name != "." && fs.ValidPath(name) }

func (c *content) read(fsys fs.FS, name string, limit int64) {
	raw, err := readFile(fsys, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.gone = true
		return
	case err != nil:
		c.errs = []error{&Error{File: name, Problem: err.Error(), Err: err}}
		return
	}
	c.text = raw
	if line := invalidLine(raw); line > 0 {
		c.errs = []error{&Error{File: name, Line: line, Problem: "the line isn't valid UTF-8; save the file as UTF-8"}}
		return
	}
	c.src, c.errs = parse(name, strings.ReplaceAll(strings.TrimPrefix(raw, "\uFEFF"), "\r\n", "\n"))
}

// readFile reads a file of at most limit bytes. A panic of the file system is an error.
func readFile(fsys fs.FS, name string, limit int64) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading it panicked: %v", p)
		}
	}()
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // a pipe might never end
		return "", errors.New("it isn't a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("it has more than %d bytes; split it, or set Config.MaxFile", limit)
	}
	return b.String(), nil
}

// invalidLine returns the first line that isn't valid UTF-8, or 0.
func invalidLine(s string) int {
	if utf8.ValidString(s) {
		return 0
	}
	line := 1
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return line
			}
		}
		if r == '\n' {
			line++
		}
	}
	return line
}

// siblings returns the paths of the files in the same directory, for a hint.
func siblings(fsys fs.FS, name string) (out []string) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	dir := path.Dir(name)
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out
}
