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

const fileVersion = 1

// use reads the file and calls how with what it has.
func (f *fileBook) use(ctx context.Context, change bool, how func(*contents) error) error {
	c, err := f.read()
	switch {
	case err == nil && change:
		err = f.change(ctx, how)
	case err == nil:
		err = how(c)
	}
	if err == nil || fault.Of(err) == fault.Invalid || ctx.Err() != nil {
		return err
	}
	return fault.NewFixable(fmt.Sprintf("policy: the file of grants %s can't be used: %v", f.path, err),
		"correct it, or remove it to take back what it permits", err)
}

// read returns what the file has.
func (f *fileBook) read() (*contents, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newContents(), nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxText:
		return nil, fmt.Errorf("it isn't a regular file of at most %d bytes", maxText)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("others may write it (%v)", info.Mode().Perm())
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (*contents, error) {
	c := new(contents)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(c)
	if err != nil {
		err = errors.New(err.Error()) // of no class
	} else if d.More() || c.Version != fileVersion || c.Projects == nil || c.Modes == nil {
		err = fmt.Errorf("it isn't a file of grants of version %d", fileVersion)
	}
	for _, rules := range c.Projects {
		for i := range rules {
			if problem := rules[i].problem(); problem != "" {
				err = errors.New(problem)
			}
		}
	}
	for _, m := range c.Modes {
		if !m.Mode.known() {
			err = fmt.Errorf("there is no mode %q", m.Mode)
		}
	}
	return c, err
}

// change replaces the file, again and again until nobody else has changed it meanwhile.
func (f *fileBook) change(ctx context.Context, how func(*contents) error) error {
	dir, name := filepath.Split(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ws, err := file.OpenWith(dir, file.Config{FileMode: 0o600, MaxRead: maxText, MaxWrite: maxText, Sync: true})
	if err != nil {
		return err
	}
	defer ws.Close()
	for {
		c := newContents()
		old, err := ws.Read(ctx, name)
		if err == nil {
			c, err = parse(old.Data)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = how(c)
		}
		if err != nil {
			return err
		}
		text, _ := json.MarshalIndent(c, "", "  ") // of texts
		_, err = ws.Write(ctx, name, append(text, '\n'), file.WriteOptions{Version: old.Version})
		if !errors.Is(err, file.ErrChanged) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}
