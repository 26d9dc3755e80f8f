package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// toolsOf returns the tools over a tree, the reading ones first.
func toolsOf(t Tree) []tools.Tool {
	list := []tools.Tool{readTool(t), listTool(t), searchTool(t), statTool(t)}
	if !t.config().ReadOnly {
		list = append(list, writeTool(t), editTool(t))
		if t.config().Patch {
			list = append(list, patchTool(t))
		}
		list = append(list, moveTool(t), deleteTool(t))
	}
	return list
}

// spec returns the common part of the tools' specs.
func spec(t Tree, name, description string) tools.Spec {
	c := t.config()
	return tools.Spec{
		Name: c.Name + "." + name, Description: description, Category: "file", MaxResult: c.MaxShown + 4<<10,
		Outside: c.Outside,
	}
}

func reading(t Tree, name, description string) tools.Spec {
	s := spec(t, name, description)
	s.ReadOnly = true
	return s
}

func itoa(n int) string { return strconv.Itoa(n) }

// count formats a number of things.
func count[T int | int64](n T, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "e"
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return strconv.FormatInt(int64(n), 10) + " " + what + "s"
}

type readInput struct {
	Path    string `json:"path" jsonschema:"file to read, relative to the workspace"`
	Offset  int    `json:"offset,omitempty" jsonschema:"first line to show, from 1"`
	Limit   int    `json:"limit,omitempty" jsonschema:"largest number of lines to show"`
	Numbers bool   `json:"numbers,omitempty" jsonschema:"put the line number and a tab before each line"`
}

// A ReadResult is the Data of file.read: the lines that were shown.
type ReadResult struct {
	Info
	First int  `json:"first"` // line shown, from 1; 0 if none
	Last  int  `json:"last"`
	Lines int  `json:"lines"` // number of lines of the file; 0 if it is too large for that to be known
	Cut   bool `json:"cut,omitempty"`
}

func readTool(t Tree) tools.Tool {
	s := reading(t, "read",
		"Reads a text file. The first line of the result has the numbers of the lines that follow, and the file's "+
			"version, which is needed to replace the file. The rest is the file's text. Files that are too large to be "+
			"read at once are read in parts.")
	s.Schema = json.RawMessage(
		`{"properties":{"offset":{"minimum":1,"default":1},"limit":{"minimum":1,"maximum":100000,"default":2000}}}`)
	return tools.New(s, func(ctx context.Context, in readInput) (tools.Result, error) {
		c, err := t.Read(ctx, in.Path)
		switch {
		case errors.Is(err, ErrTooLarge):
			return readPart(ctx, t, in)
		case err != nil:
			return tools.Result{}, err
		}
		return readWhole(c, in, t.config().MaxShown)
	})
}

type listInput struct {
	Path   string `json:"path,omitempty" jsonschema:"directory to list; default: the whole workspace"`
	Glob   string `json:"glob,omitempty" jsonschema:"only names that match, at any depth: *, ? and [a-z] within a name, ** for any directories; such as *.go or src/**/*.ts"`
	Depth  int    `json:"depth,omitempty" jsonschema:"how many levels to show; default: 1, or all with a glob"`
	Limit  int    `json:"limit,omitempty" jsonschema:"largest number of entries to show"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"also show names that begin with a dot"`
}

// A ListResult is the Data of file.list.
type ListResult struct {
	Entries []Info `json:"entries"`
	Cut     bool   `json:"cut,omitempty"` // there may be more
}

func listTool(t Tree) tools.Tool {
	s := reading(t, "list",
		"Lists files with their sizes in bytes, directories with a slash at the end, links with their targets.")
	s.Schema = json.RawMessage(`{"properties":{"depth":{"minimum":0,"maximum":64},"limit":{"minimum":0}}}`)
	return tools.New(s, func(ctx context.Context, in listInput) (tools.Result, error) {
		r, err := list(ctx, t, in)
		if err != nil {
			return tools.Result{}, err
		}
		res := tools.Text(r.text(t.config().MaxShown))
		res.Data = r
		return res, nil
	})
}

func list(ctx context.Context, t Tree, in listInput) (*ListResult, error) {
	if err := globError(in.Glob); err != nil {
		return nil, err
	}
	at, info, err := start(ctx, t, in.Path)
	if err != nil {
		return nil, err
	}
	if info.Kind == KindFile {
		return &ListResult{Entries: []Info{info}}, nil
	}
	r, limit := &ListResult{Entries: []Info{}}, maxListed
	if in.Limit > 0 {
		limit = min(limit, in.Limit)
	}
	depth := in.Depth
	if depth <= 0 {
		if depth = 1; in.Glob != "" {
			depth = maxDepth + 1
		}
	}
	w := walk{tree: t, ctx: ctx, hidden: in.Hidden, depth: depth, most: t.config().MaxWalked}
	err = w.run(at, func(name string, e entry) error {
		if !selected(in.Glob, at, name) {
			return nil
		}
		if len(r.Entries) == limit {
			r.Cut = true
			return errStop
		}
		info, err := t.Stat(ctx, name)
		if err != nil { // deleted in the meantime, or not a valid name for tools: show the directory's information
			info = Info{Name: name, Kind: e.kind}
		}
		r.Entries = append(r.Entries, info)
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	r.Cut = r.Cut || w.cut
	return r, nil
}

// text writes one entry per line.
func (r *ListResult) text(limit int) string {
	var b strings.Builder
	shown := 0
	for _, e := range r.Entries {
		if b.Len() > limit-512 {
			break
		}
		shown++
		b.WriteString(show(e.Name))
		switch e.Kind {
		case KindDir:
			b.WriteString("/")
		case KindFile:
			b.WriteString("  " + strconv.FormatInt(e.Size, 10))
		case KindLink:
			b.WriteString(" -> " + showTarget(e.Target))
		case KindOther:
			b.WriteString("  (a pipe, a device or a socket)")
		}
		b.WriteByte('\n')
	}
	switch {
	case len(r.Entries) == 0 && !r.Cut:
		return "nothing"
	case r.Cut || shown < len(r.Entries):
		b.WriteString("[" + count(shown, "entry") + " shown; there are more: use a glob or a smaller directory]")
	default:
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

func searchTool(t Tree) tools.Tool {
	s := reading(t, "search", "Searches text files line by line. Results are lines \"name:line: text\".")
	s.Schema = json.RawMessage(
		`{"properties":{"pattern":{"minLength":1,"maxLength":1000},"context":{"minimum":0,"maximum":10},"limit":{"minimum":0}}}`)
	return tools.New(s, func(ctx context.Context, in searchInput) (tools.Result, error) {
		r, err := search(ctx, t, in)
		if err != nil {
			return tools.Result{}, err
		}
		res := tools.Text(r.text(t.config().MaxShown))
		res.Data = r
		return res, nil
	})
}

type pathInput struct {
	Path string `json:"path" jsonschema:"file or directory, relative to the workspace"`
}

func statTool(t Tree) tools.Tool {
	s := reading(t, "stat",
		"Describes a name: kind, size, permissions, modification time and, for files that can be read, version.")
	return tools.New(s, func(ctx context.Context, in pathInput) (tools.Result, error) {
		info, err := t.Stat(ctx, in.Path)
		if err != nil {
			return tools.Result{}, err
		}
		text := show(info.Name) + ": " + string(info.Kind)
		if info.Kind == KindFile {
			text += ", " + count(info.Size, "byte")
			if c, err := t.Read(ctx, in.Path); err == nil {
				info.Version = c.Version
				if diff.Binary(c.Data) {
					text += ", binary"
				} else {
					text += ", " + count(lineCount(c.Data), "line")
				}
				text += ", version " + c.Version
			}
		}
		if info.Kind == KindLink {
			text += " to " + showTarget(info.Target)
		}
		text += ", " + info.Mode.String()
		if !info.Modified.IsZero() {
			text += ", changed " + info.Modified.UTC().Format(time.RFC3339)
		}
		res := tools.Text(text)
		res.Data = info
		return res, nil
	})
}

// lineCount returns the number of lines of data; a last one without a line end counts.
func lineCount(data []byte) int {
	n := bytes.Count(data, newline)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}
