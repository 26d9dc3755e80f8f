package file

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Staging is a [Tree] of changes to a [Workspace] that take effect only when they are merged. A
// file that is read is copied: from then on the Staging shows this copy, whatever happens in the
// workspace, and merges changes against it. Listing and searching copy nothing and show the current
// workspace with the changes.
//
// Files can be created, replaced, moved and deleted; directories are created with their files.
// Several Stagings of a Workspace don't affect each other until they merge. The changes are stored
// in a directory, so they survive the process.
type Staging struct {
	ws *Workspace

	mu     sync.RWMutex // guards what follows; locked after the workspace's write lock
	store  *store
	closed bool
}

// Stage returns the Staging whose contents and log are in dir. If dir doesn't exist or is empty,
// the Staging is new; otherwise it continues the stored one. A dir of "" means a new temporary
// directory. The directory must be outside of the workspace, and only one Staging may use it at a
// time.
func (w *Workspace) Stage(dir string) (*Staging, error) {
	at, err := filepath.Abs(dir)
	if dir == "" {
		at, err = os.MkdirTemp("", "pawl-staging-")
	}
	if err != nil {
		return nil, explain("the staging's directory", err)
	}
	var st *store
	if w.contains(at) {
		err = newError(at, fault.Invalid, nil, "the directory for staging is inside the workspace; use another")
	} else {
		st, err = openStore(at, w.cfg.Sync)
	}
	if err != nil {
		if dir == "" {
			_ = os.RemoveAll(at)
		}
		return nil, explain(at, err)
	}
	return &Staging{ws: w, store: st}, nil
}

// contains reports whether an absolute path is the workspace's directory or one below.
func (w *Workspace) contains(dir string) bool {
	root, err := w.root.Stat(".")
	if err != nil {
		return false
	}
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil { // the existing part
			dir = real
		}
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, root) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// Tools returns the tools of [Workspace.Tools] with the same names, over the staging.
func (s *Staging) Tools() []tools.Tool { return toolsOf(s) }

// Close releases the staging and keeps its directory, which [Workspace.Stage] can open again.
// Closing again does nothing.
func (s *Staging) Close() error { return s.end((*store).close) }

// Cleanup deletes the staging with all changes that aren't merged. It does nothing after Close.
func (s *Staging) Cleanup() error { return s.end((*store).erase) }

func (s *Staging) end(how func(*store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return explain(s.store.dir, how(s.store))
}

// ready returns an error if the staging is closed, or ctx has ended. mu is held.
func (s *Staging) ready(ctx context.Context, name string) error {
	if s.closed {
		return newError(name, fault.Permanent, os.ErrClosed, "the staging is closed")
	}
	return ctx.Err()
}

func (s *Staging) config() *Config { return &s.ws.cfg }

func (s *Staging) resolve(name string) (string, error) { return s.ws.resolve(name) }

// Stat describes a name, with the changes.
func (s *Staging) Stat(ctx context.Context, name string) (Info, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx, name); err != nil {
		return Info{}, err
	}
	real, err := s.ws.resolve(name)
	if err != nil {
		return Info{}, err
	}
	if f := s.store.files[real]; f != nil {
		if f.Now == "" {
			return Info{}, newError(name, fault.NotFound, fs.ErrNotExist, "it was deleted")
		}
		return Info{Name: real, Kind: KindFile, Size: f.NowSize, Mode: f.Mode}, nil
	}
	if s.below(real) {
		return Info{Name: real, Kind: KindDir, Mode: fs.ModeDir | dirMode}, nil
	}
	info, err := s.ws.Stat(ctx, real)
	return info, renamed(err, name)
}

// Read returns the staged version of a file. A file that isn't staged is copied from the workspace.
func (s *Staging) Read(ctx context.Context, name string) (Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, name); err != nil {
		return Content{}, err
	}
	real, err := s.ws.resolve(name)
	if err != nil {
		return Content{}, err
	}
	if s.store.files[real] == nil {
		if real, _, err = s.ws.locate(name, true); err != nil {
			return Content{}, err
		}
	}
	if s.store.files[real] != nil {
		c, err := s.now(name, real)
		if err != nil {
			return Content{}, err
		}
		return *c, nil
	}
	c, err := s.ws.Read(ctx, real)
	if err != nil {
		return Content{}, renamed(err, name)
	}
	f := staged{Name: real, Mode: c.Mode}
	if f.Base, err = s.store.keep(name, c.Data, s.ws.cfg.MaxStaged); err != nil {
		return Content{}, explain(name, err)
	}
	f.Now, f.BaseSize, f.NowSize = f.Base, c.Size, c.Size
	return c, explain(name, s.store.set(f))
}

// now returns the current content of a staged file. mu is held.
func (s *Staging) now(name, real string) (*Content, error) {
	f := s.store.files[real]
	if f.Now == "" {
		return nil, newError(name, fault.NotFound, fs.ErrNotExist, "it was deleted")
	}
	data, err := s.bytes(f.Now)
	if err != nil {
		return nil, explain(name, err)
	}
	return &Content{Info: Info{Name: real, Kind: KindFile, Size: f.NowSize, Mode: f.Mode, Version: version(data)},
		Data: data}, nil
}

// bytes returns a stored content; it must be in use by a file.
func (s *Staging) bytes(sum string) ([]byte, error) {
	c := s.config()
	return s.store.content(sum, max(c.MaxRead, c.MaxWrite)*2, nil)
}

// Write stages a new content of a file.
func (s *Staging) Write(ctx context.Context, name string, data []byte, o WriteOptions) (Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, name); err != nil {
		return Info{}, err
	}
	if err := fits(name, data, s.config()); err != nil {
		return Info{}, err
	}
	real, f, old, err := s.existing(name)
	if err != nil {
		return Info{}, err
	}
	if data == nil {
		data = []byte{} // an empty file; nil would mean none
	}
	if data, err = o.shaped(name, old, data, s.config()); err != nil {
		return Info{}, err
	}
	same, err := mayWrite(name, old, data, o)
	if err != nil {
		return Info{}, err
	}
	if same {
		return old.Info, nil
	}
	if o.Version == "" && s.store.files[real] == nil {
		f.Base, f.BaseSize = "", 0 // not read: this isn't a change of the existing content
	}
	if f, err = s.with(f, data, old); err != nil {
		return Info{}, explain(name, err)
	}
	if err := s.store.set(f); err != nil {
		return Info{}, explain(name, err)
	}
	return written(real, data, old == nil, f.Mode), nil
}

// with returns f with a new content, and stores it and the content that was read. mu is held.
func (s *Staging) with(f staged, data []byte, old *Content) (staged, error) {
	var err error
	limit := s.ws.cfg.MaxStaged
	if s.store.uses[f.Now] == 1 {
		limit += f.NowSize // it will be deleted
	}
	if f.Base != "" && s.store.uses[f.Base] == 0 {
		if _, err = s.store.keep(f.Name, old.Data, limit); err != nil {
			return f, err
		}
		limit -= int64(len(old.Data))
	}
	f.Now, f.NowSize = "", 0
	if data != nil {
		f.NowSize = int64(len(data))
		f.Now, err = s.store.keep(f.Name, data, limit)
	}
	if f.Mode == 0 {
		f.Mode = s.ws.cfg.FileMode
	}
	return f, err
}

// existing returns the staged state of a file that is to be changed, and its content, nil if there
// is none. For a file that isn't staged it returns the state of the workspace, which isn't stored
// yet. mu is held.
func (s *Staging) existing(name string) (real string, f staged, old *Content, err error) {
	real, info, err := s.ws.writable(name)
	if err != nil {
		return "", f, nil, err
	}
	if s.below(real) {
		return "", f, nil, newError(name, fault.Invalid, nil, "it is a directory; name a file")
	}
	for dir := path.Dir(real); dir != "."; dir = path.Dir(dir) {
		if up := s.store.files[dir]; up != nil && up.Now != "" {
			return "", f, nil, newError(name, fault.Invalid, nil, "%s is a file, not a directory", show(dir))
		}
	}
	if known := s.store.files[real]; known != nil {
		if known.Now == "" {
			return real, *known, nil, nil
		}
		old, err = s.now(name, real)
		return real, *known, old, err
	}
	f = staged{Name: real}
	if info == nil {
		return real, f, nil, nil
	}
	if old, err = s.ws.current(real); err != nil {
		return "", f, nil, renamed(err, name)
	}
	f.Base, f.BaseSize, f.Mode = sumOf(old.Data), int64(len(old.Data)), old.Mode
	return real, f, old, nil
}

// Remove stages the deletion of a file.
func (s *Staging) Remove(ctx context.Context, name, version string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, name); err != nil {
		return err
	}
	real, f, old, err := s.existing(name)
	if err != nil {
		return err
	}
	if old == nil {
		return missing(unlocked{s}, name, real)
	}
	if err := mayChange(name, old, version); err != nil {
		return err
	}
	if f, err = s.with(f, nil, old); err != nil {
		return explain(name, err)
	}
	return explain(name, s.store.set(f))
}

// Move stages the deletion of a file and its creation under another name, with its permissions.
func (s *Staging) Move(ctx context.Context, from, to, version string) (Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, from); err != nil {
		return Info{}, err
	}
	source, f, old, err := s.existing(from)
	if err != nil {
		return Info{}, err
	}
	if old == nil {
		return Info{}, missing(unlocked{s}, from, source)
	}
	if err := mayChange(from, old, version); err != nil {
		return Info{}, err
	}
	target, g, taken, err := s.existing(to)
	if err != nil {
		return Info{}, err
	}
	if taken != nil {
		return Info{},
			newError(to, fault.Invalid, fs.ErrExist, "it exists already; use another name, or delete it first")
	}
	g.Mode = old.Mode
	if g, err = s.with(g, old.Data, nil); err != nil {
		return Info{}, explain(to, err)
	}
	if f, err = s.with(f, nil, old); err != nil {
		return Info{}, explain(from, err)
	}
	if err := s.store.set(g, f); err != nil {
		return Info{}, explain(to, err)
	}
	return written(target, old.Data, true, g.Mode), nil
}
