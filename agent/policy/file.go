package policy

import (
	"bytes"
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
// It keeps at most 1,000 rules of a project and the modes of 4,096 sessions; more are an error.
// Writers of several processes lose nothing, and readers see all of a change or nothing of it: see
// package file.
//
// Keep it where the agent can't write it. The [Set] denies calls that name it as a path below the
// project's directory, but a program that the agent may run can write what its user can.
func File(path string) Book {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return &book{path: path}
}

const (
	fileVersion = 1
	maxTries    = 1000 // of a change while others change the file
)

// useFile is use for a file. It begins again if somebody else has changed the file meanwhile.
func (b *book) useFile(ctx context.Context, change bool, f func(*contents) error) error {
	for left := maxTries; ; left-- {
		refused, err := b.try(ctx, change, f)
		if err == nil {
			return refused
		}
		if left == 0 || !errors.Is(err, file.ErrChanged) && !errors.Is(err, fs.ErrExist) {
			return fault.NewFixable(fmt.Sprintf("policy: the file of grants %s can't be used: %v", b.path, err),
				"correct it, or remove it to take back what it permits", err)
		}
	}
}

// try returns what f returns, and why the file can't be used.
func (b *book) try(ctx context.Context, change bool, f func(*contents) error) (refused, err error) {
	dir, name := filepath.Split(b.path)
	if change {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	c, old := newContents(), file.Content{}
	ws, err := file.OpenWith(dir, file.Config{FileMode: 0o600, MaxRead: maxText, MaxWrite: maxText, Sync: true})
	if err == nil {
		defer ws.Close()
		if old, err = ws.Read(ctx, name); err == nil {
			err = c.parse(&old)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if refused = f(c); refused != nil || !change {
		return refused, nil
	}
	text, _ := json.MarshalIndent(c, "", "  ") // of texts
	_, err = ws.Write(ctx, name, append(text, '\n'), file.WriteOptions{Version: old.Version})
	return nil, err
}

// parse reads a file.
func (c *contents) parse(f *file.Content) error {
	d := json.NewDecoder(bytes.NewReader(f.Data))
	d.DisallowUnknownFields()
	c.Version = 0
	err := d.Decode(c)
	switch {
	case err != nil:
		return err
	case runtime.GOOS != "windows" && f.Mode.Perm()&0o022 != 0:
		return fmt.Errorf("others may write it (%v)", f.Mode.Perm())
	case d.More() || c.Version != fileVersion || c.Projects == nil || c.Modes == nil:
		return fmt.Errorf("it isn't a file of grants of version %d", fileVersion)
	}
	return nil
}
