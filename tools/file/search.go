package file

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/glob"
)

// A SearchResult is the result of file.search, ordered by names and lines. It is the call's Data.
type SearchResult struct {
	Matches []Match `json:"matches"`
	Files   int     `json:"files"`   // number of files searched
	TooBig  int     `json:"too_big"` // files skipped in a directory because they are larger than 64 MiB
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
	if info.Kind == KindFile {
		if err := s.file(at, math.MaxInt64); err != nil && !errors.Is(err, errStop) {
			return nil, err
		}
		return s.res, nil
	}
	w := walk{tree: t, ctx: ctx, hidden: in.Hidden, depth: maxDepth + 1, most: t.config().MaxWalked}
	err = w.run(at, func(name string, e entry) error {
		if e.kind != KindFile || !selected(in.Glob, at, name) {
			return nil
		}
		return s.file(name, maxSearchFile)
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
		if err != nil || info.Kind != KindLink {
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
	if info.Kind != KindDir && info.Kind != KindFile {
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
	}{{r.TooBig, "too large, unless searched by name"}, {r.Binary, "binary"}, {r.Failed, "unreadable"}} {
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
