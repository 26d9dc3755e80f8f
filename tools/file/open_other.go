//go:build !unix

package file

import (
	"io/fs"
	"os"
)

// noWait is nothing here: files aren't pipes.
const noWait = 0

// keepOwner does nothing here: new files take their owner from their directory.
func keepOwner(*os.File, fs.FileInfo) {}
