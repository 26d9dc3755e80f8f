//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"fmt"
	"runtime"
)

func openDisk(string) (fsys, error) {
	return nil,
		fmt.Errorf("the store needs flock and the replacing of open files, which %s doesn't have; use a SQL store",
			runtime.GOOS)
}
