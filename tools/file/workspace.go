package file

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Tree is the file tree of the tools: a [Workspace], or a [Staging] over one. Names are relative,
// with slashes; symbolic links in directories are followed for reading inside the workspace. Errors
// are of type [*Error], or those of ctx. Its methods are safe for concurrent use.
type Tree interface {
	// Stat describes a name. It doesn't follow a symbolic link. Info.Version is empty.
	Stat(ctx context.Context, name string) (Info, error)
	// Read returns a regular file of at most Config.MaxRead bytes, and its version.
	Read(ctx context.Context, name string) (Content, error)
	// Write creates or replaces a regular file, and creates its directories as needed. It doesn't
	// write content that the file has already, but returns an error even then if the file has
	// another version than that in o.
	Write(ctx context.Context, name string, data []byte, o WriteOptions) (Info, error)
	// Remove deletes a regular file. If version isn't empty, the file must have it.
	Remove(ctx context.Context, name, version string) error
	// Move renames a regular file to a name that doesn't exist. If version isn't empty, the file
	// must have it.
	Move(ctx context.Context, from, to, version string) (Info, error)
	// Tools returns the tools for this tree: read, list, search, stat and, unless Config.ReadOnly,
	// write, edit, move and delete; with Config.Patch also patch.
	Tools() []tools.Tool

	config() *Config
	// open returns the content of a file for searching, in buf if it fits. The error is ErrTooLarge
	// above limit bytes.
	open(name string, limit int64, buf []byte) ([]byte, error)
	// stream opens a file of any size with a resolved name, to read it part by part.
	stream(name string) (*os.File, error)
	// entries returns at most limit entries of a directory in the order of their names, and whether
	// there are more. The name comes from a walk, or is a resolved one.
	entries(dir string, limit int) ([]entry, bool, error)
	// resolve returns the name without symbolic links, except in the last element.
	resolve(name string) (string, error)
}

// An Info describes a file, a directory or something else.
type Info struct {
	Name     string      `json:"name"`
	Kind     Kind        `json:"kind"`
	Size     int64       `json:"size"` // of a file, in bytes
	Mode     fs.FileMode `json:"mode"`
	Modified time.Time   `json:"modified,omitzero"`
	// Target is the target of a symbolic link, as it is stored.
	Target string `json:"target,omitempty"`
	// Version is a fingerprint of the content: 16 hexadecimal digits of its SHA-256. It detects
	// changes; it isn't secure against somebody who looks for two files with the same version.
	Version string `json:"version,omitempty"`
	// Created and Changed are results of a write; both are false if the file had the content
	// already.
	Created bool `json:"created,omitempty"`
	Changed bool `json:"changed,omitempty"`
}

// A Content is a file that was read. Its Version is that of Data.
type Content struct {
	Info
	Data []byte
}

// WriteOptions say which file a write may replace; with the zero value, none.
type WriteOptions struct {
	// Version is the version that the file must have, from a Read of it. Otherwise the error is
	// [ErrChanged], whatever its content is.
	Version string
	// Overwrite replaces any existing file if Version is empty. In a [Staging], the merge of such a
	// file conflicts if one exists.
	Overwrite bool
	mode      fs.FileMode // of a new file; 0: Config.FileMode
	keepForm  bool        // write the text with the line ends and the byte order mark of the file
}

// A Kind is the kind of a directory entry.
type Kind string

// The kinds.
const (
	KindFile  Kind = "file"
	KindDir   Kind = "dir"
	KindLink  Kind = "link"  // a symbolic link
	KindOther Kind = "other" // a pipe, a device, a socket
)

func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return KindFile
	case m.IsDir():
		return KindDir
	case m&fs.ModeSymlink != 0:
		return KindLink
	}
	return KindOther
}

// An entry is an entry of a directory.
type entry struct {
	base string
	kind Kind
}

// A Workspace is the directory in which the tools work. All writers of a directory are serialized:
// those of one Workspace, of several, and of several processes of this computer. Writers of
// Workspaces that lie in each other only notice each other's changes.
type Workspace struct {
	root *os.Root
	cfg  Config
	// writeLock is held while files are changed, and then the lock of the directory: see tryLock.
	// It has one token; waiting for it can end with a context.
	writeLock *semaphore.Weighted
}

var _, _ Tree = (*Workspace)(nil), (*Staging)(nil)

// Open returns a Workspace over the directory dir, which must exist. The error names the
// invalid field of cfg, or is the system's.
func Open(dir string, cfg Config) (*Workspace, error) {
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &Error{Name: dir, Problem: "the workspace can't be opened: " + innermost(err).Error(),
			class: fault.Of(err), err: err}
	}
	w := &Workspace{root: root, cfg: cfg, writeLock: semaphore.NewWeighted(1)}
	if cfg.History != "" && (!filepath.IsAbs(cfg.History) || w.contains(cfg.History)) {
		_ = root.Close()
		return nil, &Error{Name: cfg.History, class: fault.Invalid,
			Problem: "Config.History must be an absolute path of a directory outside of the workspace"}
	}
	if _, err := tools.NewRegistry(w.Tools()...); err != nil {
		_ = root.Close()
		return nil, &Error{Name: cfg.Name, Problem: "Config.Name isn't a valid name for tools: " + err.Error(),
			class: fault.Invalid, err: err}
	}
	return w, nil
}

// Close releases the directory. Running calls finish normally; later ones fail. Closing again does
// nothing.
func (w *Workspace) Close() error { return w.root.Close() }

// Tools returns the tools that work on the directory itself. See [Tree].
func (w *Workspace) Tools() []tools.Tool { return toolsOf(w) }

func (w *Workspace) config() *Config { return &w.cfg }

// lock waits for the write lock. The caller calls done to release it.
func (w *Workspace) lock(ctx context.Context) (done func(), err error) {
	if err := w.writeLock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	unlock, err := w.lockDir(ctx)
	if err != nil {
		w.writeLock.Release(1)
		return nil, err
	}
	return func() {
		unlock()
		w.writeLock.Release(1)
	}, nil
}

// lockDir waits for the lock that all Workspaces over the directory share. Waiting in the system
// couldn't end with a context.
func (w *Workspace) lockDir(ctx context.Context) (unlock func(), err error) {
	if w.cfg.ReadOnly { // nothing will be written
		return func() {}, nil
	}
	for {
		unlock, err := tryLock(w.root)
		if unlock != nil || err != nil {
			return unlock, explain(".", err)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
