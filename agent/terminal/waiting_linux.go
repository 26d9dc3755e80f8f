package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// waiting returns how many bytes of a terminal were typed and not read yet; 0 if f is nil.
func waiting(f *os.File) (n int) {
	if f == nil {
		return 0
	}
	control(f, func(fd int) { n, _ = unix.IoctlGetInt(fd, unix.TIOCINQ) })
	return n
}
