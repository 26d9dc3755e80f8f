//go:build !linux

package process

import "os"

// held reports whether a process may have the other end of a pipe open. Here it isn't found out.
func held(*os.File) bool { return true }
