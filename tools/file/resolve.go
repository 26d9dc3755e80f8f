package file

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// longestChain is the largest number of symbolic links in one name.
const longestChain = 40

// resolve returns the real name of a cleaned name: symbolic links of its directories are followed,
// but not the last element. The part that doesn't exist stays unchanged.
//
// It gives each file one name, so that a link can't bypass hiding and protection, and a Staging
// finds a file under any name. Directories are opened one by one and without following links, so a
// link that replaces one meanwhile can't bypass them either. The result is opened in the same way:
// see openDir. It doesn't protect the workspace: the os.Root does.
func (w *Workspace) resolve(name string) (string, error) {
	real, _, err := w.locate(name, false)
	return real, err
}

// locate is resolve. It also returns the description of the file, nil if there is none. With
// follow, it follows a symbolic link in the last element, too.
func (w *Workspace) locate(name string, follow bool) (real string, info fs.FileInfo, err error) {
	c, err := clean(name)
	if err != nil {
		return "", nil, err
	}
	var (
		done  []string
		dirs  = []*os.Root{w.root} // dirs[i] is the directory done[:i]
		links int
		rest  = strings.Split(c, "/")
	)
	defer func() {
		for _, d := range dirs[1:] {
			_ = d.Close()
		}
	}()
	for len(rest) > 0 {
		e := rest[0]
		rest = rest[1:]
		switch e {
		case ".", "":
			continue
		case "..": // in a symbolic link
			if len(done) == 0 {
				return "", nil,
					newError(name, fault.Denied, nil, "a symbolic link in the name leads out of the workspace")
			}
			_ = dirs[len(done)].Close()
			dirs, done, info = dirs[:len(done)], done[:len(done)-1], nil
			continue
		}
		in := dirs[len(done)]
		at := path.Join(path.Join(done...), e)
		if w.cfg.hides(at) {
			return "", nil, explain(name, fs.ErrNotExist)
		}
		info, err = in.Lstat(e)
		if errors.Is(err, fs.ErrNotExist) {
			real = path.Join(append(slices.Clone(done), append([]string{e}, rest...)...)...)
			if real, err = clean(real); err == nil && w.cfg.hides(real) {
				err = fs.ErrNotExist
			}
			return real, nil, explain(name, err)
		}
		if err != nil {
			return "", nil, explain(name, err)
		}
		switch last := len(rest) == 0; {
		case info.Mode()&fs.ModeSymlink != 0 && (!last || follow):
			target, err := in.Readlink(e)
			if err != nil {
				return "", nil, explain(name, err)
			}
			if links++; links > longestChain {
				return "", nil, newError(name, fault.Invalid, nil,
					"it goes through more than %d symbolic links, probably in a cycle", longestChain)
			}
			if strings.HasPrefix(target, "/") || strings.ContainsAny(target, "\\\x00") {
				return "", nil,
					newError(name, fault.Denied, nil, "a symbolic link in the name leads out of the workspace")
			}
			rest, info = append(strings.Split(target, "/"), rest...), nil
		case !last && !info.IsDir():
			return "", nil,
				newError(name, fault.Invalid, nil, "%s is a %s, not a directory", show(at), kindOf(info.Mode()))
		case last:
			return at, info, nil
		default:
			sub, err := openElement(in, e)
			if err != nil {
				return "", nil, renamed(explain(name, err), name)
			}
			dirs, done = append(dirs, sub), append(done, e)
		}
	}
	if info == nil { // the name, or a link, ends in "." or ".."
		if info, err = dirs[len(done)].Stat("."); err != nil {
			return "", nil, explain(name, err)
		}
	}
	return cmp.Or(path.Join(done...), "."), info, nil
}

// writable is locate for a file that is to be changed. It returns an error for the workspace
// itself, directories, symbolic links, names that lead through one, and protected files. A nil info
// means that the file doesn't exist.
func (w *Workspace) writable(name string) (real string, info fs.FileInfo, err error) {
	if w.cfg.ReadOnly {
		return "", nil, newError(name, fault.Denied, fs.ErrPermission, "the workspace is read-only")
	}
	real, info, err = w.locate(name, false)
	if err != nil {
		return "", nil, err
	}
	for _, n := range []string{path.Clean(name), real} {
		if e := w.cfg.protects(n); e != "" {
			return "", nil,
				newError(name, fault.Denied, fs.ErrPermission, "%s is protected and can't be changed", show(e))
		}
	}
	if strings.HasPrefix(path.Base(real), tempPrefix) {
		return "", nil, newError(name, fault.Denied, fs.ErrPermission,
			"names that begin with %s are reserved for temporary files", tempPrefix)
	}
	if strings.HasSuffix(name, "/") {
		return "", nil,
			newError(name, fault.Invalid, nil, "the name ends in a slash, so it is a directory; name a file")
	}
	// A person approves the name in the call, so it must be that of the file.
	if c := path.Clean(name); slices.Contains(strings.Split(name, "/"), "..") {
		return "", nil, newError(name, fault.Invalid, nil,
			"the name of a file that is changed can't contain \"..\"; name %s if that is meant", show(c))
	} else if c != real {
		return "", nil, newError(name, fault.Invalid, nil,
			"one of its directories is a symbolic link; name %s if that is meant", show(real))
	}
	if info != nil {
		if err := w.regular(name, real, info); err != nil {
			return "", nil, err
		}
	}
	return real, info, nil
}

// regular returns an error that describes the name if it isn't a regular file.
func (w *Workspace) regular(name, real string, info fs.FileInfo) error {
	switch kindOf(info.Mode()) {
	case KindFile:
		return nil
	case KindDir:
		return newError(name, fault.Invalid, nil, "it is a directory; name a file")
	case KindLink:
		return newError(name, fault.Invalid, nil, "it is a symbolic link to %s; name the file itself",
			showTarget(w.readlink(real)))
	}
	return newError(name, fault.Invalid, nil, "it is a pipe, a device or a socket; only regular files can be used")
}

// readlink returns the target of a symbolic link with a resolved name, or "".
func (w *Workspace) readlink(real string) string {
	at, base, done, err := w.parent(real, false)
	if err != nil {
		return ""
	}
	defer done()
	target, _ := at.Readlink(base)
	return target
}

// Drop discards the staged change of a file; the workspace's version stays. It does nothing for a
// file that isn't staged.
func (s *Staging) Drop(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(context.Background(), name); err != nil {
		return err
	}
	real, err := s.ws.resolve(name)
	if err != nil || s.store.files[real] == nil {
		return err
	}
	return explain(name, s.store.set(staged{Name: real}))
}
