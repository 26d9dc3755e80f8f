package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// Previews show what a call would change to the person who is asked about it. They fail as the call
// would, so that nobody is asked about a call that can't succeed.

// nowhere is the name of a file that doesn't exist, in a diff.
const nowhere = "/dev/null"

// before returns the current content of a file that a call is to change, or nil if it doesn't
// exist. tooLarge says that it exists and is too large to be read; it has no Data then.
func before(ctx context.Context, t Tree, name string) (old *Content, tooLarge bool, err error) {
	c, err := t.Read(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, ErrTooLarge):
		info, err := t.Stat(ctx, name)
		return &Content{Info: info}, true, err
	case err != nil:
		return nil, false, err
	}
	return &c, false, nil
}

// unseen describes a file that is too large for a diff, so that another file of this name is
// noticed.
func unseen(c *Content) string {
	return fmt.Sprintf("%s, %s, changed %s", show(c.Name), count(c.Size, "byte"), c.Modified.UTC())
}

// changed returns the difference between two contents of a file; nil: it doesn't exist.
func changed(name string, old, data []byte) string {
	from, to := "a/"+show(name), "b/"+show(name)
	if old == nil {
		from = nowhere
	}
	if data == nil {
		to = nowhere
	}
	head := "--- " + from + "\n+++ " + to + "\n"
	switch text := diff.Unified(from, to, old, data); {
	case diff.Binary(old) || diff.Binary(data):
		return head + fmt.Sprintf("Binary content: version %s, then %s\n", version(old), version(data))
	case text == "" && (old == nil || data == nil): // an empty file comes or goes
		return head
	default:
		return text
	}
}

func previewWrite(ctx context.Context, t Tree, in writeInput) (string, error) {
	old, tooLarge, err := before(ctx, t, in.Path)
	if err != nil {
		return "", err
	}
	data := []byte(in.Content)
	if err := fits(in.Path, data, t.config()); err != nil {
		return "", err
	}
	if tooLarge {
		return unseen(old) + " is replaced by:\n" + changed(in.Path, nil, data), nil
	}
	o := WriteOptions{Version: in.Version, Overwrite: t.config().Overwrite, keepForm: true}
	if data, err = o.shaped(in.Path, old, data, t.config()); err != nil {
		return "", err
	}
	if _, err := mayWrite(in.Path, old, data, o); err != nil {
		return "", err
	}
	if old == nil {
		return changed(in.Path, nil, data), nil
	}
	return changed(old.Name, present(old.Data), present(data)), nil
}

// present returns data as the content of a file that exists.
func present(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

func previewEdit(ctx context.Context, t Tree, in editInput) (string, error) {
	c, data, _, err := edited(ctx, t, in)
	if err != nil {
		return "", err
	}
	return changed(c.Name, present(c.Data), present(data)), nil
}

func previewMove(ctx context.Context, t Tree, in moveInput) (string, error) {
	info, err := t.Stat(ctx, in.From)
	if err != nil {
		return "", err
	}
	if in.Version != "" {
		c, err := t.Read(ctx, in.From)
		if err == nil {
			err = mayChange(in.From, &c, in.Version)
		}
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return "", err
		}
	}
	if _, err := t.Stat(ctx, in.To); err == nil {
		return "", newError(in.To, fault.Invalid, fs.ErrExist, "it exists already; use another name, or delete it first")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return "rename from " + show(info.Name) + "\nrename to " + show(in.To) + "\n", nil
}

func previewDelete(ctx context.Context, t Tree, in deleteInput) (string, error) {
	old, tooLarge, err := before(ctx, t, in.Path)
	switch {
	case err != nil:
		return "", err
	case old == nil: // the error that a reader gets names files that are similar
		_, err := t.Read(ctx, in.Path)
		return "", err
	case tooLarge:
		return unseen(old) + " is deleted\n", nil
	}
	if err := mayChange(in.Path, old, in.Version); err != nil {
		return "", err
	}
	return changed(old.Name, present(old.Data), nil), nil
}
