package crew

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// ownCopy returns the copy of the step that a call is of.
func (c *copies) ownCopy(ctx context.Context) (*workcopy, error) {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return nil, fault.New(fault.Permanent, "crew: this tool works only in calls of a step")
	}
	return c.of(call.Session)
}

// fileTools returns the tools of a worker for its staging copy: those of tools/file that read, and
// two that write what the worker may write. Undo of what was written takes back the whole step.
func (c *copies) fileTools(may func(name string) error) (list []tools.Tool, err error) {
	for _, t := range c.place.ws.Tools() {
		d, err := t.Define()
		if err != nil {
			return nil, err
		}
		if d.Spec().ReadOnly {
			list = append(list, c.inCopy(d))
		}
	}
	spec := func(name, description string) tools.Spec {
		return tools.Spec{Name: name, Description: description, Category: "file", Risk: tools.Medium, Idempotent: true,
			NoRetries: true, NoBreaker: true, UndoFailed: true}
	}
	undo := func(ctx context.Context) error {
		w, err := c.ownCopy(ctx)
		if err != nil {
			return err
		}
		return w.revert(ctx)
	}
	return append(list,
		tools.Func[writeInput, string]{
			Spec: spec("file.write", "Creates a text file, or replaces one in the version that you read."),
			Run: func(ctx context.Context, in writeInput) (string, error) {
				return c.put(ctx, in.Path, may, func(old []byte, v string) ([]byte, string, error) {
					if v != "" && in.Version == "" && string(old) != in.Content {
						return nil, "", fault.Errorf(fault.Invalid,
							"%s exists; read it, and give the version that you read",
							in.Path)
					}
					return []byte(in.Content), in.Version, nil
				})
			},
			Undo: func(ctx context.Context, _ writeInput, _ string) error { return undo(ctx) },
		},
		tools.Func[editInput, string]{
			Spec: spec("file.edit",
				"Replaces a text in a file. The old text must be copied exactly and occur in it once."),
			Run: func(ctx context.Context, in editInput) (string, error) {
				return c.put(ctx, in.Path, may, func(old []byte, v string) ([]byte, string, error) {
					switch n := bytes.Count(old, []byte(in.Old)); {
					case in.Old == "":
						return nil, "", fault.New(fault.Invalid, "old is empty; copy the text that is to be replaced")
					case n == 0 && in.New != "" && bytes.Contains(old, []byte(in.New)):
						return old, v, nil // the call runs again after a crash
					case n != 1:
						return nil, "", fault.Errorf(fault.Invalid,
							"the old text occurs %d times in %s; it has to be there once",
							n, in.Path)
					}
					return bytes.Replace(old, []byte(in.Old), []byte(in.New), 1), v, nil
				})
			},
			Undo: func(ctx context.Context, _ editInput, _ string) error { return undo(ctx) },
		}), nil
}

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file, relative to the directory"`
	Content string `json:"content" jsonschema:"the whole new text"`
	Version string `json:"version,omitempty" jsonschema:"to replace a file: the version that you read"`
}

type editInput struct {
	Path string `json:"path" jsonschema:"the file, relative to the directory"`
	Old  string `json:"old" jsonschema:"the text to replace"`
	New  string `json:"new" jsonschema:"the text that replaces it"`
}

// put changes a file of the copy. A content that the file has already is no error, so that a call
// can run again.
func (c *copies) put(ctx context.Context, name string, may func(string) error,
	change func(old []byte, version string) (data []byte, expected string, err error)) (string, error) {
	w, err := c.ownCopy(ctx)
	if err == nil {
		err = may(name)
	}
	if err != nil {
		return "", err
	}
	old, err := w.staging.Read(ctx, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	data, expected, err := change(old.Data, old.Version)
	if err != nil {
		return "", err
	}
	info := old.Info
	if old.Version == "" || !bytes.Equal(old.Data, data) {
		if info, err = w.staging.Write(ctx, name, data, file.WriteOptions{Version: expected}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: written, %d lines, version %s", info.Name, bytes.Count(data, []byte("\n")), info.Version),
		nil
}

// inCopy returns a tool over the directory as one over the copy of whoever calls it.
func (c *copies) inCopy(d *tools.Definition) tools.Tool {
	spec := *d.Spec()
	spec.Schema = d.Tool().Schema
	return tools.Raw{Spec: spec, Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		w, err := c.ownCopy(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		registry, err := tools.NewRegistry(w.staging.Tools()...)
		if err != nil {
			return tools.Result{}, err
		}
		own, _ := registry.Lookup(d.Name())
		call, _ := tools.CallOf(ctx)
		out := tools.Execute(ctx, own, call, nil)
		return tools.Result{Parts: out.Parts, Failed: !out.Status.Good()}, out.Err
	}}
}

// onlyTests is what a tester may write.
func onlyTests(name string) error {
	if strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/") {
		return nil
	}
	return fault.Errorf(fault.Denied, "%s isn't a test: the tester writes files that end with _test.go, and testdata",
		name)
}

// noTests is what an engineer may write.
func noTests(name string) error {
	if strings.HasSuffix(name, "_test.go") {
		return fault.Errorf(fault.Denied,
			"%s is a test: only the tester writes tests. Change the code so that it passes", name)
	}
	return nil
}
