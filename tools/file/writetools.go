package file

import (
	"context"
	"errors"
	"io/fs"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

func changing(t Tree, name, description string, risk tools.Risk) tools.Spec {
	s := spec(t, name, description)
	s.Risk = risk
	return s
}

type writeInput struct {
	Path    string `json:"path" jsonschema:"file to write, relative to the workspace; its directories are created as needed"`
	Content string `json:"content" jsonschema:"the whole new text of the file"`
	Version string `json:"version,omitempty" jsonschema:"to replace a file: the version that you read; without it the file must not exist"`
}

// A WriteResult is the Data of file.write, file.edit and file.move: the new state of the file. That
// of file.patch is a []WriteResult, in the order of its paths.
type WriteResult struct {
	Info
	From  string `json:"from,omitempty"`  // of a move
	Lines []int  `json:"lines,omitempty"` // first lines of what was edited or patched, from 1
}

func writeTool(t Tree) tools.Tool {
	s := changing(t, "write",
		"Creates a text file, or replaces one in the version that you read. It fails if somebody has changed the "+
			"file since. A file that is replaced keeps its line ends and its byte order mark.", tools.Medium)
	s.Idempotent = true // a repeated call changes nothing: the file doesn't have the version any more
	return undoable(t, tools.Func[writeInput, tools.Result]{
		Spec:    s,
		Preview: func(ctx context.Context, in writeInput) (string, error) { return previewWrite(ctx, t, in) },
		Run: func(ctx context.Context, in writeInput) (tools.Result, error) {
			o := WriteOptions{Version: in.Version, Overwrite: t.config().Overwrite, keepForm: true}
			info, err := t.Write(ctx, in.Path, []byte(in.Content), o)
			if err != nil {
				return tools.Result{}, err
			}
			what := "unchanged, it has this text already"
			switch {
			case info.Created:
				what = "created"
			case info.Changed:
				what = "replaced"
			}
			return change(WriteResult{Info: info}, what+", "+count(lineCount([]byte(in.Content)), "line")), nil
		},
		Verify: func(ctx context.Context, in writeInput, out tools.Result) error { return verify(ctx, t, out) },
	}, func(in writeInput) []string { return []string{in.Path} },
		func(in writeInput, _ string, before []byte) ([]byte, error) {
			return inForm(before, []byte(in.Content)), nil
		})
}

// change makes the result of a tool that changed a file.
func change(r WriteResult, what string) tools.Result {
	res := tools.Text(show(r.Name) + ": " + what + ", " + count(r.Size, "byte") + ", version " + r.Version)
	res.Data = r
	return res
}

// verify reads a file again and compares its version.
func verify(ctx context.Context, t Tree, out tools.Result) error {
	r, ok := out.Data.(WriteResult)
	if !ok {
		return newError("", fault.Permanent, nil, "the result doesn't contain what was written")
	}
	c, err := t.Read(ctx, r.Name)
	if errors.Is(err, ErrTooLarge) {
		return nil // too large to read
	}
	if err != nil {
		return err
	}
	if c.Version != r.Version {
		return newError(r.Name, fault.Invalid, ErrChanged,
			"it has version %s now, not %s; somebody changed it right afterwards: read it again", c.Version, r.Version)
	}
	return nil
}

// gone returns an error if a name still exists.
func gone(ctx context.Context, t Tree, name string) error {
	if _, err := t.Stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
		return newError(name, fault.Invalid, ErrChanged, "it still exists, or exists again")
	}
	return nil
}

type editInput struct {
	Path    string `json:"path" jsonschema:"file to change, relative to the workspace"`
	Old     string `json:"old" jsonschema:"the exact text to replace; it must be in the file once"`
	New     string `json:"new" jsonschema:"the text that replaces it; empty: delete it"`
	All     bool   `json:"all,omitempty" jsonschema:"replace every occurrence"`
	Version string `json:"version,omitempty" jsonschema:"change the file only if it has this version"`
}

func editTool(t Tree) tools.Tool {
	s := changing(t, "edit",
		"Replaces a text in a file. The old text must be copied exactly and occur in the file once. Line ends "+
			"are written as the file has them.", tools.Medium)
	s.Schema = []byte(`{"properties":{"old":{"minLength":1}}}`)
	return undoable(t, tools.Func[editInput, tools.Result]{
		Spec:    s,
		Preview: func(ctx context.Context, in editInput) (string, error) { return previewEdit(ctx, t, in) },
		Run: func(ctx context.Context, in editInput) (tools.Result, error) {
			c, data, lines, err := edited(ctx, t, in)
			if err != nil {
				return tools.Result{}, err
			}
			info, err := t.Write(ctx, in.Path, data, WriteOptions{Version: c.Version})
			if err != nil {
				return tools.Result{}, err
			}
			what := "replaced at line " + some(lines)
			if len(lines) > 1 {
				what = "replaced at lines " + some(lines)
			}
			return change(WriteResult{Info: info, Lines: lines}, what), nil
		},
		Verify: func(ctx context.Context, in editInput, out tools.Result) error { return verify(ctx, t, out) },
	}, func(in editInput) []string { return []string{in.Path} },
		func(in editInput, _ string, before []byte) ([]byte, error) {
			data, _, err := replace(in.Path, before, in.Old, in.New, in.All)
			return data, err
		})
}

// edited returns a file with its content after an edit, and the lines of the replaced texts.
func edited(ctx context.Context, t Tree, in editInput) (c Content, data []byte, lines []int, err error) {
	if c, err = t.Read(ctx, in.Path); err != nil {
		return c, nil, nil, err
	}
	if err := mayChange(in.Path, &c, in.Version); err != nil {
		return c, nil, nil, err
	}
	if diff.Binary(c.Data) {
		return c, nil, nil, newError(in.Path, fault.Invalid, ErrBinary, "it is binary, so it can't be edited as text")
	}
	data, lines, err = replace(in.Path, c.Data, in.Old, in.New, in.All)
	return c, data, lines, err
}

type moveInput struct {
	From    string `json:"from" jsonschema:"file to move, relative to the workspace"`
	To      string `json:"to" jsonschema:"its new name, which mustn't exist; directories are created as needed"`
	Version string `json:"version,omitempty" jsonschema:"move the file only if it has this version"`
}

func moveTool(t Tree) tools.Tool {
	s := changing(t, "move", "Moves or renames one file. It overwrites nothing.", tools.High)
	return tools.Func[moveInput, tools.Result]{
		Spec:    s,
		Preview: func(ctx context.Context, in moveInput) (string, error) { return previewMove(ctx, t, in) },
		Run: func(ctx context.Context, in moveInput) (tools.Result, error) {
			info, err := t.Move(ctx, in.From, in.To, in.Version)
			if err != nil {
				return tools.Result{}, err
			}
			res := tools.Text(show(in.From) + ": moved to " + show(info.Name) + ", " + count(info.Size, "byte"))
			res.Data = WriteResult{Info: info, From: in.From}
			return res, nil
		},
		Verify: func(ctx context.Context, in moveInput, out tools.Result) error {
			if _, err := t.Stat(ctx, in.To); err != nil {
				return err
			}
			return gone(ctx, t, in.From)
		},
		Undo: func(ctx context.Context, in moveInput, _ tools.Result) error {
			_, err := t.Move(ctx, in.To, in.From, "")
			return err
		},
	}
}

type deleteInput struct {
	Path    string `json:"path" jsonschema:"file to delete, relative to the workspace; directories can't be deleted"`
	Version string `json:"version,omitempty" jsonschema:"delete the file only if it has this version"`
}

func deleteTool(t Tree) tools.Tool {
	what := "Deletes one file. This can't be undone."
	if t.config().History != "" {
		what = "Deletes one file."
	}
	s := changing(t, "delete", what, tools.High)
	return undoable(t, tools.Func[deleteInput, tools.Result]{
		Spec:    s,
		Preview: func(ctx context.Context, in deleteInput) (string, error) { return previewDelete(ctx, t, in) },
		Run: func(ctx context.Context, in deleteInput) (tools.Result, error) {
			if err := t.Remove(ctx, in.Path, in.Version); err != nil {
				return tools.Result{}, err
			}
			return tools.Text(show(in.Path) + ": deleted"), nil
		},
		Verify: func(ctx context.Context, in deleteInput, _ tools.Result) error {
			return gone(ctx, t, in.Path)
		},
	}, func(in deleteInput) []string { return []string{in.Path} },
		func(deleteInput, string, []byte) ([]byte, error) { return nil, nil })
}
