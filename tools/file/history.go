package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// maxHistory is how many calls a history can undo. The oldest are forgotten beyond that.
const maxHistory = 10_000

// A record is a file before a call changed it, with the other files that the call changed. It is
// kept under the call's idempotency key.
type record struct {
	Name   string      `json:"name"`
	Before []byte      `json:"before"` // nil: it didn't exist
	Mode   fs.FileMode `json:"mode,omitempty"`
	More   []record    `json:"more,omitempty"`
}

// undoable adds Undo to a tool that changes files, if there is a [Config].History. after returns
// what the call has made of the earlier content of a file; nil: it has deleted the file.
func undoable[In any](t Tree, f tools.Func[In, tools.Result], paths func(In) []string,
	after func(in In, name string, before []byte) ([]byte, error)) tools.Tool {
	dir := t.config().History
	if dir == "" {
		return f
	}
	run := f.Run
	f.Spec.UndoFailed = true
	f.Run = func(ctx context.Context, in In) (tools.Result, error) {
		if tools.IdempotencyKey(ctx) == "" { // it isn't a call of an agent
			return run(ctx, in)
		}
		first, err := remember(ctx, t, paths(in))
		if err != nil {
			return tools.Result{}, err
		}
		res, err := run(ctx, in)
		switch fault.Of(err) {
		case fault.Invalid, fault.NotFound, fault.Denied: // this run has changed nothing
			if first {
				_ = os.Remove(recordFile(ctx, dir))
			}
		}
		return res, err
	}
	f.Undo = func(ctx context.Context, in In, out tools.Result) error {
		at := recordFile(ctx, dir)
		text, err := os.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) {
			if len(out.Parts) == 0 { // the call has changed nothing
				return nil
			}
			return newError(strings.Join(paths(in), ", "), fault.Permanent, err,
				"its earlier content isn't in the history any more")
		}
		var r record
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return explain(at, err)
		}
		for _, r := range append(r.More, r) {
			made, wrong := after(in, r.Name, r.Before)
			if wrong == nil {
				wrong = restore(ctx, t, &r, made)
			}
			err = errors.Join(err, wrong)
		}
		return err
	}
	return f
}

// recordFile returns the path of the record of the call that ctx belongs to.
func recordFile(ctx context.Context, dir string) string {
	sum := sha256.Sum256([]byte(tools.IdempotencyKey(ctx)))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")
}

// remember keeps the present content of the files that a call is about to change. A call that runs
// again after a crash has its record already; first is false then.
func remember(ctx context.Context, t Tree, names []string) (first bool, err error) {
	var all []record
	var size int64
	for _, name := range names {
		c, err := t.Read(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c = Content{Info: Info{Name: name}}
		case err != nil:
			return false, err
		default:
			c.Data = present(c.Data)
		}
		size += int64(len(c.Data))
		if err := fitTogether(names, size, t.config()); err != nil {
			return false, err
		}
		all = append(all, record{Name: c.Name, Before: c.Data, Mode: c.Mode})
	}
	if len(all) == 0 {
		return false, nil // an input without names, which the call refuses
	}
	dir := t.config().History
	at := recordFile(ctx, dir)
	if _, err := os.Lstat(at); err == nil {
		return false, nil
	}
	all[0].More = all[1:]
	text, err := json.Marshal(all[0])
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(at+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(at+".new", at)
	}
	if err != nil {
		return false, newError(names[0], fault.Degraded, err, "its content can't be kept in the history: %v",
			innermost(err))
	}
	forget(dir)
	return true, nil
}

// forget removes the oldest record if there are too many.
func forget(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) <= maxHistory {
		return
	}
	var oldest fs.FileInfo
	for _, e := range list {
		info, err := e.Info()
		if err == nil && (oldest == nil || info.ModTime().Before(oldest.ModTime())) {
			oldest = info
		}
	}
	if oldest != nil {
		_ = os.Remove(filepath.Join(dir, oldest.Name())) // what is left is removed next time
	}
}

// restore gives a file its earlier content, unless somebody has changed it since. made is what the
// call has made of it; nil: it has deleted it.
func restore(ctx context.Context, t Tree, r *record, made []byte) error {
	now, err := t.Read(ctx, r.Name)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing == (r.Before == nil) && bytes.Equal(now.Data, r.Before):
		return nil
	case missing != (made == nil) || !bytes.Equal(now.Data, made):
		return newError(r.Name, fault.Invalid, ErrChanged, "it was changed since the call, and stays as it is")
	case r.Before == nil:
		return t.Remove(ctx, r.Name, now.Version)
	}
	_, err = t.Write(ctx, r.Name, r.Before, WriteOptions{Version: now.Version, mode: r.Mode})
	return err
}
