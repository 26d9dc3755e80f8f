//go:build !unix

package file

import (
	"io/fs"
	"os"
)

// noWait isn't needed on these systems: a file can't become a pipe.
const noWait = 0

// keepOwner does nothing on these systems: new files get their owner from their directory.
func keepOwner(*os.File, fs.FileInfo) {}
