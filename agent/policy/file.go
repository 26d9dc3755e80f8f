package policy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file"
)

// File returns a book that is kept in a file, for all processes of one machine. The file and its
// directory are created with the first grant, with the permissions 0600 and 0700. A file that
// others may write, that isn't what this package writes, or that has more than 1 MiB is a
// *[fault.FixableError], and denies all calls. A relative path is below the working directory, as
// it is now.
//
// It keeps at most 1,000 rules of a project and the modes of the 4,096 sessions that were switched
// last. Writers of several processes lose nothing, and readers see all of a change or nothing of
// it: see package file.
//
// Keep it where the agent can't write it. The [Set] denies calls that name it as a path, but a
// program that the agent may run can write what its user can.
func File(path string) Book {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	f := &fileBook{path: path}
	f.book = book{f.use}
	return f
}

type fileBook struct {
	book
	path string
}

const (
	fileVersion = 1
	maxTries    = 1000 // of a change while others change the file
)

// use calls how with what the file has, again if somebody else has changed the file meanwhile.
func (f *fileBook) use(ctx context.Context, change bool, how func(*contents) error) error {
	for left := maxTries; ; left-- {
		var refused error
		err := f.try(ctx, change, func(c *contents) error {
			refused = how(c)
			return refused
		})
		switch {
		case left > 0 && (errors.Is(err, file.ErrChanged) || errors.Is(err, fs.ErrExist)):
		case err == nil || refused != nil || ctx.Err() != nil:
			return err
		default:
			return fault.NewFixable(fmt.Sprintf("policy: the file of grants %s can't be used: %v", f.path, err),
				"correct it, or remove it to take back what it permits", err)
		}
	}
}

func (f *fileBook) try(ctx context.Context, change bool, how func(*contents) error) error {
	dir, name := filepath.Split(f.path)
	if change {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	c, old := newContents(), file.Content{}
	ws, err := file.OpenWith(dir, file.Config{FileMode: 0o600, MaxRead: maxText, MaxWrite: maxText, Sync: true})
	if err == nil {
		defer ws.Close()
		if old, err = ws.Read(ctx, name); err == nil {
			c, err = parse(&old)
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = how(c)
	}
	if err != nil || !change {
		return err
	}
	text, _ := json.MarshalIndent(c, "", "  ") // of texts
	_, err = ws.Write(ctx, name, append(text, '\n'), file.WriteOptions{Version: old.Version})
	return err
}

// parse reads a file.
func parse(f *file.Content) (*contents, error) {
	c := new(contents)
	d := json.NewDecoder(bytes.NewReader(f.Data))
	d.DisallowUnknownFields()
	err := d.Decode(c)
	switch {
	case err != nil:
	case runtime.GOOS != "windows" && f.Mode.Perm()&0o022 != 0:
		err = fmt.Errorf("others may write it (%v)", f.Mode.Perm())
	case d.More() || c.Version != fileVersion || c.Projects == nil || c.Modes == nil:
		err = fmt.Errorf("it isn't a file of grants of version %d", fileVersion)
	}
	for _, rules := range c.Projects {
		err = cmp.Or(err, (&Rules{Rules: rules}).check())
	}
	for _, m := range c.Modes {
		err = cmp.Or(err, m.Mode.check())
	}
	return c, err
}
