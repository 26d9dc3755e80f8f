package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// The names of the files are also in Paths, so that rules about paths see what a call changes.
type patchInput struct {
	Paths []string `json:"paths" jsonschema:"every file that the patch changes or creates, relative to the workspace"`
	Patch string   `json:"patch" jsonschema:"the unified diff, with at least one unchanged line before or after each change"`
}

// A patched is a file of a patch.
type patched struct {
	name  string   // as in Paths
	old   *Content // nil: it doesn't exist
	data  []byte   // with the patch
	lines []int    // first changed lines of its hunks
}

func patchTool(t Tree) tools.Tool {
	s := changing(t, "patch",
		"Changes or creates files by a unified diff: all of it, or nothing if a part doesn't match. Lines that are "+
			"unchanged or removed must be copied exactly; line numbers may be wrong where the lines occur once.",
		tools.Medium)
	s.Schema = []byte(`{"properties":{"paths":{"minItems":1,"maxItems":100,"uniqueItems":true},"patch":{"minLength":1}}}`)
	return undoable(t, tools.Func[patchInput, tools.Result]{
		Spec:    s,
		Preview: func(ctx context.Context, in patchInput) (string, error) { return previewPatch(ctx, t, in) },
		Title: func(_ context.Context, in patchInput) string {
			var names []string
			for _, p := range in.Paths {
				names = append(names, show(p))
			}
			return "Patch " + strings.Join(names, ", ")
		},
		Run: func(ctx context.Context, in patchInput) (tools.Result, error) {
			list, err := patch(ctx, t, in)
			if err != nil {
				return tools.Result{}, err
			}
			done, err := writeAll(ctx, t, list)
			if err != nil {
				return tools.Result{}, err
			}
			var text []string
			for _, r := range done {
				text = append(text, fmt.Sprintf("%s: changed at line %s, %s, version %s", show(r.Name), some(r.Lines),
					count(r.Size, "byte"), r.Version))
			}
			res := tools.Text(strings.Join(text, "\n"))
			res.Data = done
			return res, nil
		},
		Verify: func(ctx context.Context, in patchInput, out tools.Result) error {
			list, _ := out.Data.([]WriteResult)
			for _, r := range list {
				if err := verify(ctx, t, tools.Result{Data: r}); err != nil {
					return err
				}
			}
			return nil
		},
	}, func(in patchInput) []string {
		if _, err := in.files(); err != nil {
			return nil // the call refuses it, so there is nothing to keep
		}
		return in.Paths
	}, patchOne)
}

// patchOne returns what a patch makes of the earlier content of one file.
func patchOne(in patchInput, name string, before []byte) ([]byte, error) {
	files, err := in.files()
	if err != nil {
		return nil, err
	}
	for p, f := range files {
		if path.Clean(p) == path.Clean(name) {
			data, _, err := diff.Apply(before, f.Hunks, formOf(before).ends)
			return present(data), err
		}
	}
	return present(before), nil
}

// files returns the changes of a patch by the names in Paths, which must be those of the patch.
func (in *patchInput) files() (map[string]*diff.Patch, error) {
	if len(in.Patch) > maxPatch {
		return nil, newError(strings.Join(in.Paths, ", "), fault.Invalid, ErrTooLarge,
			"the patch has %d bytes, more than %d; make several of it", len(in.Patch), maxPatch)
	}
	list, err := diff.Parse(in.Patch, func(name string) bool { return in.path(name) != "" })
	if err != nil {
		return nil, newError(strings.Join(in.Paths, ", "), fault.Invalid, nil, "%s", err.Error())
	}
	files := make(map[string]*diff.Patch)
	for _, f := range list {
		p := in.path(f.Name)
		switch have := files[p]; {
		case p == "":
			return nil, newError(f.Name, fault.Invalid, nil, "the patch changes it, but paths doesn't name it")
		case have != nil:
			have.Hunks = append(have.Hunks, f.Hunks...)
		default:
			files[p] = f
		}
	}
	for _, p := range in.Paths {
		if files[p] == nil {
			return nil, newError(p, fault.Invalid, nil, "paths names it, but the patch doesn't change it")
		}
	}
	return files, nil
}

// path returns the element of Paths that a name of a patch is for, or "".
func (in *patchInput) path(name string) string {
	plain := name
	if prefix, rest, ok := strings.Cut(name, "/"); ok && (prefix == "a" || prefix == "b") {
		plain = rest
	}
	for _, n := range []string{name, plain} {
		for _, p := range in.Paths {
			if path.Clean(p) == path.Clean(n) {
				return p
			}
		}
	}
	return ""
}

// patch returns what the files of a patch become, in the order of Paths. It changes nothing.
func patch(ctx context.Context, t Tree, in patchInput) ([]patched, error) {
	files, err := in.files()
	if err != nil {
		return nil, err
	}
	list := make([]patched, 0, len(files))
	var old, now int64
	for _, p := range in.Paths {
		one := patched{name: p}
		f, c, err := files[p], Content{}, error(nil)
		if c, err = t.Read(ctx, p); err == nil {
			one.old = &c
			old += int64(len(c.Data))
			err = fitTogether(in.Paths, old, t.config())
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && (f.New || f.OnlyAdds()):
		case err != nil:
			return nil, err
		case f.New:
			return nil, newError(p, fault.Invalid, fs.ErrExist, "the patch creates it, but it exists already")
		case diff.Binary(c.Data):
			return nil, newError(p, fault.Invalid, ErrBinary, "it is binary, so it can't be changed as text")
		}
		if one.data, one.lines, err = diff.Apply(c.Data, f.Hunks, formOf(c.Data).ends); err != nil {
			return nil, newError(p, fault.Invalid, nil, "%s; this call changed nothing", err.Error())
		}
		now += int64(len(one.data))
		if err = fits(p, one.data, t.config()); err == nil {
			err = fitTogether(in.Paths, now, t.config())
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// fitTogether returns an error if the files of a call have too many bytes to hold all of them.
func fitTogether(names []string, bytes int64, cfg *Config) error {
	if most := max(maxPatched, cfg.MaxRead); bytes > most {
		return newError(strings.Join(names, ", "), fault.Invalid, ErrTooLarge,
			"the files have more than %d bytes together; change some of them in another call", most)
	}
	return nil
}

// writeAll writes the files of a patch: all of them or, if one can't be written, none.
func writeAll(ctx context.Context, t Tree, list []patched) ([]WriteResult, error) {
	var done []WriteResult
	for i, f := range list {
		var o WriteOptions
		if f.old != nil {
			o.Version = f.old.Version
		}
		info, err := t.Write(ctx, f.name, f.data, o)
		if err != nil {
			if stays := takeBack(context.WithoutCancel(ctx), t, list[:i], done); stays != nil {
				err = errors.Join(stays, err) // something was changed, whatever the class of err is
			}
			return nil, err
		}
		done = append(done, WriteResult{Info: info, Lines: f.lines})
	}
	return done, nil
}

// takeBack gives files the content that they had before they were written, unless somebody has
// changed them since.
func takeBack(ctx context.Context, t Tree, list []patched, done []WriteResult) (err error) {
	for i, f := range slices.Backward(list) {
		var wrong error
		if f.old == nil {
			wrong = t.Remove(ctx, f.name, done[i].Version)
		} else {
			_, wrong = t.Write(ctx, f.name, present(f.old.Data), WriteOptions{Version: done[i].Version})
		}
		if wrong != nil {
			err = errors.Join(err, newError(f.name, fault.Permanent, wrong,
				"it was changed by the patch, and couldn't be changed back: %s", wrong.Error()))
		}
	}
	return err
}

func previewPatch(ctx context.Context, t Tree, in patchInput) (string, error) {
	list, err := patch(ctx, t, in)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range list {
		if f.old == nil {
			b.WriteString(changed(f.name, nil, present(f.data)))
		} else {
			b.WriteString(changed(f.old.Name, present(f.old.Data), present(f.data)))
		}
	}
	return b.String(), nil
}
