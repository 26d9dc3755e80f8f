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
	f.book = book{f}
	return f
}

type fileBook struct {
	book
	path string
}

const fileVersion = 1

// read returns what the file has.
func (f *fileBook) read() (*contents, error) {
	var text []byte
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newContents(), nil
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxText):
		err = fmt.Errorf("it isn't a regular file of at most %d bytes", maxText)
	case err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		err = fmt.Errorf("others may write it (%v); take that permission away", info.Mode().Perm())
	case err == nil:
		text, err = os.ReadFile(f.path)
	}
	if err != nil {
		return nil, &BookError{f.path, err}
	}
	return f.parse(text)
}

func (f *fileBook) parse(text []byte) (*contents, error) {
	c := new(contents)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(c)
	if err == nil && (d.More() || c.Version != fileVersion || c.Projects == nil || c.Modes == nil) {
		err = fmt.Errorf("it isn't a file of grants of version %d", fileVersion)
	}
	for _, rules := range c.Projects {
		err = errors.Join(err, (&Rules{Rules: rules}).check())
	}
	for _, m := range c.Modes {
		if !m.Mode.known() {
			err = errors.Join(err, fmt.Errorf("there is no mode %q", m.Mode))
		}
	}
	if err != nil {
		return nil, &BookError{f.path, err}
	}
	return c, nil
}

// change reads the file and replaces it, again and again until nobody else has changed it
// meanwhile.
func (f *fileBook) change(ctx context.Context, how func(*contents) error) error {
	if _, err := f.read(); err != nil {
		return err
	}
	dir, name := filepath.Split(f.path)
	err := os.MkdirAll(dir, 0o700)
	if err != nil {
		return &BookError{f.path, err}
	}
	ws, err := file.OpenWith(dir, file.Config{FileMode: 0o600, MaxRead: maxText, MaxWrite: maxText, Sync: true})
	if err != nil {
		return &BookError{f.path, err}
	}
	defer ws.Close()
	for {
		c, old := newContents(), file.Content{}
		if old, err = ws.Read(ctx, name); err == nil {
			c, err = f.parse(old.Data)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			if err := how(c); err != nil {
				return err
			}
			text, _ := json.MarshalIndent(c, "", "  ") // of texts
			_, err = ws.Write(ctx, name, append(text, '\n'), file.WriteOptions{Version: old.Version})
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, file.ErrChanged) && !errors.Is(err, fs.ErrExist):
			return &BookError{f.path, err}
		}
	}
}
