package terminal

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAllThatWasTypedBeforeAQuestionIsTaken, also what the terminal still holds: a line that was
// typed for something else, then the key that would approve.
func TestAllThatWasTypedBeforeAQuestionIsTaken(t *testing.T) {
	for name, reading := range map[string]bool{"no read is in progress": false, "a read is in progress": true} {
		t.Run(name, func(t *testing.T) {
			person, device := pseudo(t)
			t.Setenv("TERM", "xterm")
			k := newKeyboard(device, device)
			require.NotNil(t, k.file)
			require.NoError(t, k.hold())
			held := 4
			if reading {
				k.ready()
			}
			write := func(keys string) {
				_, err := person.WriteString(keys)
				require.NoError(t, err)
			}
			write("\r")
			if reading { // it takes the first piece
				for len(k.got) == 0 {
					runtime.Gosched()
				}
				held = 3
			}
			write("\ry\r")
			for waiting(device) < held {
				runtime.Gosched()
			}
			require.Equal(t, "y", k.ahead())
			require.Zero(t, waiting(device))
			require.False(t, k.asked)
			require.NoError(t, k.close())
		})
	}
}

// pseudo returns both ends of a pseudo-terminal: of the person, and of the program.
func pseudo(t *testing.T) (person, device *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { person.Close() })
	control(person, func(fd int) {
		require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
		n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
		require.NoError(t, err)
		device, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		require.NoError(t, err)
	})
	t.Cleanup(func() { device.Close() })
	require.NoError(t, device.SetReadDeadline(time.Time{}))
	return person, device
}
