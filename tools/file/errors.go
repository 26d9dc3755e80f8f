package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
)

// An Error describes a problem with a file, in words that a model can act on.
type Error struct {
	Name    string // as the caller gave it
	Problem string // what was wrong, and how to correct it
	class   fault.Class
	err     error
}

// Error names the file and the problem.
func (e *Error) Error() string { return "file: " + show(e.Name) + ": " + e.Problem }

// Fault returns the class: Invalid, NotFound, Denied, Transient for a file that keeps changing
// while it is read, UserFixable for a full disk, and Permanent for all other problems.
func (e *Error) Fault() fault.Class { return e.class }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.err }

// The errors that callers match with errors.Is, besides [fs.ErrNotExist], [fs.ErrExist] and
// [fs.ErrPermission].
var (
	// ErrChanged means that the file doesn't have the version that the caller read.
	ErrChanged = errors.New("file: the file has changed")
	// ErrBinary means that the file isn't text.
	ErrBinary = errors.New("file: the file is binary")
	// ErrTooLarge means that a limit of [Config] was exceeded.
	ErrTooLarge = errors.New("file: too large")
	// ErrOutside means that the name, or a symbolic link in it, leads out of the workspace.
	ErrOutside = errors.New("file: outside of the workspace")
)

func newError(name string, class fault.Class, cause error, format string, args ...any) *Error {
	if class == fault.Denied && cause == nil {
		cause = ErrOutside
	}
	return &Error{Name: name, Problem: fmt.Sprintf(format, args...), class: class, err: cause}
}

// show returns a name as it can appear in a line of text.
func show(name string) string {
	if len(name) > longestElement {
		name = strings.ToValidUTF8(name[:longestElement], "") + "…"
	}
	return visible.Name(name)
}

// showTarget returns the target of a symbolic link. It doesn't reveal targets outside of the
// workspace.
func showTarget(target string) string {
	if path.IsAbs(target) || filepath.IsAbs(target) {
		return "a place outside of the workspace"
	}
	return show(target)
}

// escapes is the text of os.Root's error for a name that leads out of it; os has no variable for
// this error.
const escapes = "path escapes from parent"

// innermost returns the innermost wrapped error; of joined errors, the first.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) > 0 {
			next = list.Unwrap()[0]
		}
		if next == nil {
			return err
		}
		err = next
	}
}

// explain converts an error of the system to an Error, without the path of the workspace.
func explain(name string, err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	cause := innermost(err)
	switch {
	case cause.Error() == escapes:
		return newError(name, fault.Denied, ErrOutside, "a symbolic link in the name leads out of the workspace")
	case errors.Is(cause, fs.ErrNotExist):
		return newError(name, fault.NotFound, fs.ErrNotExist, "no such file or directory")
	case errors.Is(cause, fs.ErrPermission):
		return newError(name, fault.Denied, fs.ErrPermission, "permission denied by the system")
	case errors.Is(cause, fs.ErrExist):
		return newError(name, fault.Invalid, fs.ErrExist, "it exists already")
	case errors.Is(cause, os.ErrClosed):
		return newError(name, fault.Permanent, os.ErrClosed, "the workspace is closed")
	}
	return newError(name, fault.Of(cause), cause, "%s", cause.Error())
}
