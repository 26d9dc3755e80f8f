package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// version returns the fingerprint of a content: see [Info].
func version(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Stat describes a name. It doesn't follow a symbolic link.
func (w *Workspace) Stat(ctx context.Context, name string) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	real, info, err := w.locate(name, false)
	if err != nil {
		return Info{}, err
	}
	if info == nil {
		return Info{}, missing(w, name, real)
	}
	out := infoOf(real, info)
	if out.Kind == KindLink {
		out.Target = w.readlink(real)
	}
	return out, nil
}

func infoOf(name string, info fs.FileInfo) Info {
	out := Info{Name: name, Kind: kindOf(info.Mode()), Mode: info.Mode(), Modified: info.ModTime()}
	if out.Kind == KindFile {
		out.Size = info.Size()
	}
	return out
}

// Read returns a regular file and its version, following symbolic links inside the workspace. The
// Info has the name of the target. A file that is written while it is read is read again, three
// times in total; then the error is Transient.
func (w *Workspace) Read(ctx context.Context, name string) (Content, error) {
	if err := ctx.Err(); err != nil {
		return Content{}, err
	}
	real, info, err := w.locate(name, true)
	if err != nil {
		return Content{}, err
	}
	if info == nil {
		return Content{}, missing(w, name, real)
	}
	data, info, err := w.content(real, w.cfg.MaxRead)
	if err != nil {
		return Content{}, renamed(err, name)
	}
	out := Content{Info: infoOf(real, info), Data: data}
	out.Size, out.Version = int64(len(data)), version(data)
	return out, nil
}

// renamed returns an error with the name that the caller used.
func renamed(err error, name string) error {
	var e *Error
	if errors.As(err, &e) && e.Name != name {
		c := *e
		c.Name = name
		return &c
	}
	return err
}

// attempts is how often a file is read that keeps changing.
const attempts = 3

// content returns a whole regular file in a consistent state, as far as its size and modification
// time tell.
func (w *Workspace) content(real string, limit int64) ([]byte, fs.FileInfo, error) {
	return steady(real, limit, func() (*os.File, fs.FileInfo, error) { return w.regularFile(real) })
}

// steady reads the file that open returns, with its description, until it hasn't changed while it
// was read.
func steady(real string, limit int64, open func() (*os.File, fs.FileInfo, error)) ([]byte, fs.FileInfo, error) {
	for range attempts {
		f, before, err := open()
		if err != nil {
			return nil, nil, err
		}
		data, err := readAll(f, before.Size(), limit, nil)
		after, statErr := f.Stat()
		_ = f.Close()
		switch {
		case errors.Is(err, ErrTooLarge):
			return nil, nil,
				newError(real, fault.Invalid, ErrTooLarge,
					"it has %d bytes, more than the limit of %d; it can be read in parts and searched, not changed",
					max(before.Size(), limit+1), limit)
		case err != nil || statErr != nil:
			return nil, nil, explain(real, errors.Join(err, statErr))
		case before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()):
			return data, after, nil
		}
	}
	return nil, nil, newError(real, fault.Transient, nil, "it keeps changing while it is read; try again later")
}

// regularFile opens a file with a resolved name that is regular both before and after it is opened.
// It follows no symbolic link that has replaced it or one of its directories: see openDir.
func (w *Workspace) regularFile(real string) (*os.File, fs.FileInfo, error) {
	at, base, done, err := w.parent(real, false)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	for range replacements {
		info, err := at.Lstat(base) // opening a device may have side effects
		if err != nil {
			return nil, nil, explain(real, err)
		}
		if err := w.regular(real, real, info); err != nil {
			return nil, nil, err
		}
		f, info, err := w.openRegular(at, base)
		if err != nil {
			return nil, nil, renamed(err, real)
		}
		if isNamed(at, base, info) {
			return f, info, nil
		}
		_ = f.Close()
	}
	return nil, nil, errReplaced(real)
}

// openRegular opens a file of a directory without blocking, and returns an error if it isn't a
// regular file.
func (w *Workspace) openRegular(at *os.Root, real string) (*os.File, fs.FileInfo, error) {
	f, err := at.OpenFile(real, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, explain(real, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = w.regular(real, real, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, explain(real, err)
	}
	return f, info, nil
}

// readAll reads at most limit bytes into buf, or returns ErrTooLarge. The size is a hint: some file
// systems report wrong sizes.
func readAll(r io.Reader, size, limit int64, buf []byte) ([]byte, error) {
	if size > limit {
		return nil, ErrTooLarge
	}
	buf = slices.Grow(buf[:0], int(size)+1)
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(512, len(buf)))
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf, ErrTooLarge
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

func (w *Workspace) open(name string, limit int64, buf []byte) ([]byte, error) {
	f, info, err := w.regularFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size(), limit, buf)
}

func (w *Workspace) stream(name string) (*os.File, error) {
	f, _, err := w.regularFile(name)
	return f, err
}

// entries reads a directory in parts, so that a directory with millions of entries costs no more
// than limit.
func (w *Workspace) entries(dir string, limit int) ([]entry, bool, error) {
	at, done, err := w.openDir(dir, false)
	if err != nil {
		return nil, false, renamed(err, dir)
	}
	defer done()
	f, err := at.Open(".")
	if err != nil {
		return nil, false, explain(dir, err)
	}
	defer f.Close()
	var out []entry
	for {
		list, err := f.ReadDir(256)
		for _, e := range list {
			if w.cfg.hides(path.Join(dir, e.Name())) {
				continue
			}
			if len(out) == limit {
				sortEntries(out)
				return out, true, nil
			}
			out = append(out, entry{base: e.Name(), kind: kindOf(e.Type())})
		}
		if err == io.EOF {
			sortEntries(out)
			return out, false, nil
		}
		if err != nil {
			return nil, false, explain(dir, err)
		}
	}
}

func sortEntries(list []entry) {
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.base, b.base) })
}
