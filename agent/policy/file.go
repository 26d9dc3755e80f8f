package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A BookError says that the file of a book can't be used. Calls are denied until it is mended.
type BookError struct {
	Path string
	Err  error
}

// Error says which file it is and what is wrong with it.
func (e *BookError) Error() string {
	return "policy: the file of grants " + e.Path + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *BookError) Unwrap() error { return e.Err }

// Fault returns UserFixable: a person has to look at the file.
func (e *BookError) Fault() fault.Class { return fault.UserFixable }

// File returns a book that is kept in a file, for all processes of one machine. The file and its
// directory are created with the first grant, with the permissions 0600 and 0700. A file that
// others may write, that isn't what this package writes, or that has more than 1 MiB is a
// *[BookError], and denies all calls. A relative path is below the working directory, as it is now.
//
// It keeps at most 1,000 rules of a project and the modes of the 4,096 sessions that were switched
// last. Writers of several processes wait for each other, up to 5 s (a lock beside the file, named
// path + ".lock", which stays); readers see all of a change or nothing of it.
//
// Keep it where the agent can't write it. The [Set] denies calls that name it as a path, but a
// program that the agent may run can write what its user can.
func File(path string) Book {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return &file{path}
}

type file struct{ path string }

const (
	fileVersion = 1
	lockSuffix  = ".lock"
	lockWait    = 5 * time.Second
)

// read returns what the file has.
func (b *file) read() (*contents, error) {
	c, err := b.load()
	if err != nil {
		return nil, &BookError{b.path, err}
	}
	return c, nil
}

func (b *file) load() (*contents, error) {
	c := &contents{Version: fileVersion}
	info, err := os.Stat(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it isn't a regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("others may write it (%v); take that permission away", info.Mode().Perm())
	}
	f, err := os.Open(b.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("it has more than %d bytes", maxText)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("it can't be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows after its end")
	}
	if c.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d, and this program knows %d", c.Version, fileVersion)
	}
	for project, rules := range c.Projects {
		for i := range rules {
			if problem := rules[i].problem(); problem != "" {
				return nil, fmt.Errorf("rule %d of the project %q: %s", i, project, problem)
			}
		}
	}
	for session, m := range c.Modes {
		if !m.Mode.known() {
			return nil, fmt.Errorf("the mode %q of the session %q is unknown", m.Mode, session)
		}
	}
	return c, nil
}

// change reads the file, changes what it has, and replaces it.
func (b *file) change(ctx context.Context, how func(*contents, time.Time) error) error {
	dir := filepath.Dir(b.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &BookError{b.path, err}
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return &BookError{b.path, err}
	}
	defer unlock()
	c, err := b.read()
	if err != nil {
		return err
	}
	if err := how(c, time.Now().UTC().Round(0)); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil && len(text) > maxText {
		return fault.New(fault.Invalid, fmt.Sprintf("policy: the file of grants would have more than %d bytes; drop some",
			maxText))
	}
	if err == nil {
		err = replace(b.path, dir, text)
	}
	if err != nil {
		return &BookError{b.path, err}
	}
	return nil
}

// replace writes a file at once or not at all.
func replace(path, dir string, text []byte) error {
	f, err := os.CreateTemp(dir, ".grants-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// lock waits for the lock of the file.
func (b *file) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		unlock, err = tryLock(b.path + lockSuffix)
		if err != nil || unlock != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process has locked it: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Rules returns the rules of a project.
func (b *file) Rules(_ context.Context, project string) ([]Rule, error) {
	c, err := b.read()
	if err != nil {
		return nil, err
	}
	return c.rules(project, time.Now()), nil
}

// Put adds a rule.
func (b *file) Put(ctx context.Context, project string, r Rule) error {
	return b.change(ctx, func(c *contents, now time.Time) error { return c.put(project, r, now) })
}

// Drop removes a rule.
func (b *file) Drop(ctx context.Context, project string, r Rule) error {
	return b.change(ctx, func(c *contents, now time.Time) error {
		c.drop(project, r, now)
		return nil
	})
}

// Mode returns the mode of a session.
func (b *file) Mode(_ context.Context, session string) (Mode, error) {
	c, err := b.read()
	if err != nil {
		return "", err
	}
	return c.Modes[session].Mode, nil
}

// SetMode sets the mode of a session.
func (b *file) SetMode(ctx context.Context, session string, m Mode) error {
	return b.change(ctx, func(c *contents, now time.Time) error {
		c.setMode(session, m, now)
		return nil
	})
}
