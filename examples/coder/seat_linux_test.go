package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// terminalOf opens a pseudo-terminal.
func terminalOf(t testing.TB) (keys, device *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	control, err := keys.SyscallConn()
	require.NoError(t, err)
	var unlocked, n int32
	size := [4]uint16{24, 100}
	for request, arg := range map[uintptr]unsafe.Pointer{syscall.TIOCSPTLCK: unsafe.Pointer(&unlocked),
		syscall.TIOCGPTN: unsafe.Pointer(&n), syscall.TIOCSWINSZ: unsafe.Pointer(&size)} {
		var errno syscall.Errno
		require.NoError(t, control.Control(func(fd uintptr) {
			_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
		}))
		require.Zero(t, errno)
	}
	device, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return keys, device
}

var sequences = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\r")

// A seat is a process at a pseudo-terminal.
type seat struct {
	cmd   *exec.Cmd
	keys  *os.File
	shown bytes.Buffer
}

func sit(t testing.TB, cmd *exec.Cmd) *seat {
	t.Helper()
	keys, device := terminalOf(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = device, device, device
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, device.Close())
	return &seat{cmd: cmd, keys: keys}
}

// until reads what is shown until it has a text.
func (s *seat) until(t testing.TB, text string) {
	t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(sequences.ReplaceAllString(s.shown.String(), ""), text) {
		n, err := s.keys.Read(b)
		s.shown.Write(b[:n])
		require.NoError(t, err, "%q: %s", text, &s.shown)
	}
}

// types presses keys.
func (s *seat) types(t testing.TB, keys string) {
	t.Helper()
	_, err := s.keys.WriteString(keys)
	require.NoError(t, err)
}

// sit starts the program at a pseudo-terminal.
func (w *world) sit(args ...string) *seat {
	w.t.Helper()
	cmd := exec.Command(executable(w.t), append([]string{"-dir", w.dir, "-db", w.db}, append(w.args, args...)...)...)
	cmd.Env = append(w.env(), "TERM=xterm")
	s := sit(w.t, cmd)
	w.t.Cleanup(s.kill)
	return s
}

func (s *seat) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = s.keys.Close()
}
