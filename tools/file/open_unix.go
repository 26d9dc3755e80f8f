//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait makes opening a pipe return at once, if a pipe replaces a file between its check and its
// opening.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// keepOwner gives f the owner of the file that it replaces if this process may; otherwise the
// process owns the new file.
func keepOwner(f *os.File, old fs.FileInfo) {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if ok && (is.Uid != was.Uid || is.Gid != was.Gid) {
		_ = f.Chown(int(was.Uid), int(was.Gid)) // most processes aren't permitted to; the content is more important
	}
}
