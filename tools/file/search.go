package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/glob"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// A SearchResult is the result of file.search, ordered by names and lines. It is the call's Data.
type SearchResult struct {
	Matches []Match `json:"matches"`
	Files   int     `json:"files"`   // number of files searched
	TooBig  int     `json:"too_big"` // files skipped because they are larger than 2 MiB
	Binary  int     `json:"binary"`  // files skipped because they are binary
	Bytes   int64   `json:"bytes"`   // number of bytes searched
	Cut     string  `json:"cut"`     // why there may be more, or ""
	Failed  int     `json:"failed"`  // files that couldn't be read
	Context int     `json:"-"`       // requested lines around each match
}

// A Match is one matching line and the lines around it. Long lines are cut.
type Match struct {
	Name   string   `json:"name"`
	Line   int      `json:"line"` // from 1
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// longestLine is the largest number of bytes of a line that is shown.
const longestLine = 400

type searchInput struct {
	Pattern    string `json:"pattern" jsonschema:"text to find within one line, or a regular expression if regexp is set"`
	Regexp     bool   `json:"regexp,omitempty" jsonschema:"the pattern is a regular expression (RE2 syntax), matched line by line"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"ignore case"`
	Path       string `json:"path,omitempty" jsonschema:"directory or file to search; default: the whole workspace"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files that match, such as *.go or src/**/*.ts"`
	Context    int    `json:"context,omitempty" jsonschema:"lines to show before and after each match, at most 10"`
	Limit      int    `json:"limit,omitempty" jsonschema:"largest number of matching lines"`
	Hidden     bool   `json:"hidden,omitempty" jsonschema:"also search names that begin with a dot"`
}

// search searches the files below in.Path.
func search(ctx context.Context, t Tree, in searchInput) (*SearchResult, error) {
	m, err := newMatcher(&in)
	if err != nil {
		return nil, err
	}
	if err := globError(in.Glob); err != nil {
		return nil, err
	}
	s := &searcher{tree: t, ctx: ctx, m: m, res: &SearchResult{Context: min(in.Context, 10)}, limit: maxMatches}
	if in.Limit > 0 {
		s.limit = min(in.Limit, s.limit)
	}
	at, info, err := start(ctx, t, in.Path)
	if err != nil {
		return nil, err
	}
	if info.Kind == kindFile {
		if err := s.file(at); err != nil && !errors.Is(err, errStop) {
			return nil, err
		}
		return s.res, nil
	}
	w := walk{tree: t, ctx: ctx, hidden: in.Hidden, depth: maxDepth + 1, most: t.config().MaxWalked}
	err = w.run(at, func(name string, e entry) error {
		if e.kind != kindFile || !selected(in.Glob, at, name) {
			return nil
		}
		return s.file(name)
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	if w.cut && s.res.Cut == "" {
		s.res.Cut = "not all files were visited; search a smaller directory"
	}
	return s.res, nil
}

// start resolves the directory or file with which a walk begins, and follows a symbolic link.
func start(ctx context.Context, t Tree, name string) (string, Info, error) {
	at, err := t.resolve(cmp.Or(name, "."))
	if err != nil {
		return "", Info{}, err
	}
	info, err := t.Stat(ctx, at)
	for range longestChain {
		if err != nil || info.Kind != kindLink {
			break
		}
		if strings.HasPrefix(info.Target, "/") {
			return "", Info{},
				newError(name, fault.Denied, nil, "it is a symbolic link that leads out of the workspace")
		}
		if at, err = t.resolve(path.Join(path.Dir(at), info.Target)); err == nil {
			info, err = t.Stat(ctx, at)
		}
	}
	if err != nil {
		return "", Info{}, renamed(err, cmp.Or(name, "."))
	}
	if info.Kind != kindDir && info.Kind != kindFile {
		return "", Info{}, newError(name, fault.Invalid, nil, "it is neither a file nor a directory")
	}
	return at, info, nil
}

// selected reports whether a file below dir matches a glob; a glob without a slash is matched
// against the last element.
func selected(pattern, dir, name string) bool {
	if pattern == "" {
		return true
	}
	if !strings.Contains(pattern, "/") {
		ok, _ := path.Match(pattern, path.Base(name))
		return ok
	}
	return glob.Match(pattern, below(dir, name)) || glob.Match(pattern, name)
}

func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// A searcher is a search in progress.
type searcher struct {
	tree  Tree
	ctx   context.Context
	m     *matcher
	res   *SearchResult
	limit int
	buf   []byte // of the previous file
}

// file searches one file. It returns errStop at a limit.
func (s *searcher) file(name string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	left := maxSearch - s.res.Bytes
	if left <= 0 {
		s.res.Cut = "the files are larger than one call can search; search a smaller directory"
		return errStop
	}
	data, err := s.tree.open(name, maxSearchFile, s.buf)
	if cap(data) > cap(s.buf) {
		s.buf = data
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		s.res.TooBig++
		return nil
	case err != nil:
		s.res.Failed++
		return nil
	}
	s.res.Bytes += int64(len(data))
	if diff.Binary(data) {
		s.res.Binary++
		return nil
	}
	s.res.Files++
	if !s.m.any(data) {
		return nil
	}
	return s.lines(name, data)
}

// lines finds the matching lines of a file.
func (s *searcher) lines(name string, data []byte) error {
	around := s.res.Context
	var last [][]byte // the previous lines
	open := len(s.res.Matches)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if n%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		line = bytes.TrimRight(line, "\r\n")
		for i := len(s.res.Matches) - 1; i >= open && around > 0; i-- { // this line follows them
			if n-s.res.Matches[i].Line > around {
				break
			}
			s.res.Matches[i].After = append(s.res.Matches[i].After, clip(line))
		}
		if s.res.Cut == "" && s.m.line(line) {
			if len(s.res.Matches) == s.limit {
				s.res.Cut = "there are more matches; use a more specific pattern, or search a smaller directory"
				if around == 0 {
					return errStop
				}
			} else {
				m := Match{Name: name, Line: n, Text: clip(line)}
				for _, b := range last {
					m.Before = append(m.Before, clip(b))
				}
				s.res.Matches = append(s.res.Matches, m)
			}
		}
		if s.res.Cut != "" && (len(s.res.Matches) == open || n-s.res.Matches[len(s.res.Matches)-1].Line >= around) {
			return errStop
		}
		if around > 0 {
			if len(last) == around {
				last = last[1:]
			}
			last = append(last, line)
		}
	}
	if s.res.Cut != "" {
		return errStop
	}
	return nil
}

// clip returns a line as it is shown: valid UTF-8, and cut if it is long.
func clip(line []byte) string {
	if len(line) <= longestLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	return strings.ToValidUTF8(string(line[:longestLine]), "") + "…"
}

// text formats the result for the model, like grep: "name:line: text", with dashes for lines around
// a match, and "--" between groups.
func (r *SearchResult) text(limit int) string {
	var b strings.Builder
	shown := 0
	lastName, lastLine := "", 0
	put := func(name string, n int, sep, text string) {
		if name == lastName && n <= lastLine {
			return
		}
		if lastName != "" && r.Context > 0 && (name != lastName || n != lastLine+1) {
			b.WriteString("--\n")
		}
		lastName, lastLine = name, n
		b.WriteString(show(name) + sep + itoa(n) + sep + " " + text + "\n")
	}
	for i, m := range r.Matches {
		if b.Len() > limit-512 {
			break
		}
		next := 0 // the line of the next match in this file: don't show it as context of this one
		if i+1 < len(r.Matches) && r.Matches[i+1].Name == m.Name {
			next = r.Matches[i+1].Line
		}
		for j, t := range m.Before {
			put(m.Name, m.Line-len(m.Before)+j, "-", t)
		}
		put(m.Name, m.Line, ":", m.Text)
		for j, t := range m.After {
			if n := m.Line + 1 + j; next == 0 || n < next {
				put(m.Name, n, "-", t)
			}
		}
		shown++
	}
	switch {
	case len(r.Matches) == 0:
		b.WriteString("no matches in " + count(r.Files, "file"))
	case shown < len(r.Matches):
		b.WriteString("[" + itoa(shown) + " of " + count(len(r.Matches), "match") +
			" shown; use a more specific pattern]")
	default:
		b.WriteString("[" + count(len(r.Matches), "match") + " in " + count(r.Files, "file") + " searched]")
	}
	sep := "; not searched: "
	for _, p := range []struct {
		n    int
		what string
	}{{r.TooBig, "too large"}, {r.Binary, "binary"}, {r.Failed, "unreadable"}} {
		if p.n > 0 {
			b.WriteString(sep + itoa(p.n) + " " + p.what)
			sep = ", "
		}
	}
	if r.Cut != "" {
		b.WriteString("\n[" + r.Cut + "]")
	}
	return b.String()
}
