//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"fmt"
	"runtime"
)

func openDisk(string) (fsys, error) {
	return nil, fmt.Errorf("needs locks that die with their process, and replacing of open files, which %s doesn't offer; a SQL store would do", runtime.GOOS)
}
