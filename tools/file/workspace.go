package file

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Tree is what the tools work on: a [Workspace], or a [Staging] over one. Names are relative, with slashes; symbolic
// links in directories are followed inside the workspace. Errors are of type [*Error], or those of ctx. Its methods are
// safe for concurrent use.
type Tree interface {
	// Stat says what name is. A symbolic link is described itself. Info.Version is empty.
	Stat(ctx context.Context, name string) (Info, error)
	// Read returns a regular file of at most Config.MaxRead bytes, and its version.
	Read(ctx context.Context, name string) (Content, error)
	// Write creates or replaces a regular file, and its directories as needed. What the file had already isn't written.
	Write(ctx context.Context, name string, data []byte, o WriteOptions) (Info, error)
	// Remove deletes a regular file, in the given version only unless that is empty.
	Remove(ctx context.Context, name, version string) error
	// Move renames a regular file to a name that doesn't exist, in the given version only unless that is empty.
	Move(ctx context.Context, from, to, version string) (Info, error)
	// Tools returns the tools that work on this tree: read, list, search, stat and, unless Config.ReadOnly, write, edit,
	// move and delete.
	Tools() []tools.Tool

	config() *Config
	// open returns what searching reads of a file that a walk found, in buf if it fits. ErrTooLarge: more than limit bytes.
	open(name string, limit int64, buf []byte) ([]byte, error)
	// entries returns at most limit entries of a directory in the order of their names, and whether there are more. The
	// name is one that a walk found, or a resolved one.
	entries(dir string, limit int) ([]entry, bool, error)
	// resolve returns the name without symbolic links, the last element apart.
	resolve(name string) (string, error)
}

// An Info describes a file, a directory or something else.
type Info struct {
	Name     string      `json:"name"`
	Kind     Kind        `json:"kind"`
	Size     int64       `json:"size"` // in bytes; of files
	Mode     fs.FileMode `json:"mode"`
	Modified time.Time   `json:"modified,omitzero"`
	// Target is where a symbolic link points, as it stands there.
	Target string `json:"target,omitempty"`
	// Version is a fingerprint of the content: the same for the same bytes, 16 hexadecimal digits of their SHA-256. It
	// tells changes apart; it isn't meant to withstand somebody who looks for two files with the same one.
	Version string `json:"version,omitempty"`
	// Created and Changed say what a write did: neither, if the file had the content already.
	Created bool `json:"created,omitempty"`
	Changed bool `json:"changed,omitempty"`
}

// A Content is a file as it was read: Version is that of Data.
type Content struct {
	Info
	Data []byte
}

// WriteOptions say what a write may replace. The zero value: nothing.
type WriteOptions struct {
	// Version is what the file must have now, from a Read or Stat of it. Else the error is [ErrChanged].
	Version string
	// Overwrite replaces whatever is there if Version is empty. In a [Staging] such a file conflicts when it is merged and
	// one exists.
	Overwrite bool
}

// A Kind is what a name stands for.
type Kind string

// The kinds.
const (
	File  Kind = "file"
	Dir   Kind = "dir"
	Link  Kind = "link"  // a symbolic link
	Other Kind = "other" // a pipe, a device, a socket
)

func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return File
	case m.IsDir():
		return Dir
	case m&fs.ModeSymlink != 0:
		return Link
	}
	return Other
}

// An entry is what a directory says of a name.
type entry struct {
	base string
	kind Kind
}

// A Workspace is a directory in which tools work. Open one Workspace for a directory in a process: writers of one take
// turns, those of two only notice each other.
type Workspace struct {
	root *os.Root
	cfg  Config
	// turn is held while files are changed. It is a channel, so that waiting for it can end with a context.
	turn chan struct{}
}

var _, _ Tree = (*Workspace)(nil), (*Staging)(nil)

// Open returns a Workspace over the directory dir, which must exist. The error names the field of cfg that is wrong, or
// is the system's.
func Open(dir string, cfg Config) (*Workspace, error) {
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &Error{Name: dir, Problem: "the workspace can't be opened: " + innermost(err).Error(), class: fault.Of(err), err: err}
	}
	w := &Workspace{root: root, cfg: cfg, turn: make(chan struct{}, 1)}
	if _, err := tools.NewRegistry(w.Tools()...); err != nil {
		_ = root.Close()
		return nil, &Error{Name: cfg.Name, Problem: "Config.Name is no name for tools: " + err.Error(), class: fault.Invalid, err: err}
	}
	return w, nil
}

// Close releases the directory. Running calls finish normally; later ones fail. Closing again does nothing.
func (w *Workspace) Close() error { return w.root.Close() }

// Tools returns the tools that work on the directory itself. See [Tree].
func (w *Workspace) Tools() []tools.Tool { return toolsOf(w) }

func (w *Workspace) config() *Config { return &w.cfg }

// take waits for the turn to change files. The caller calls done.
func (w *Workspace) take(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
