//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait keeps opening a pipe from waiting for its other end, should one take a file's place after it was looked at.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// keepOwner gives f the owner of the file that it replaces, where this process may. Else the new file is its own.
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
		_ = f.Chown(int(was.Uid), int(was.Gid)) // not permitted to most, and no reason to lose the content
	}
}
