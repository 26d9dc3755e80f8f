package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/process"
)

// The exit codes of an attempt.
const (
	held    = 20
	escaped = 21
)

func init() {
	children["escape"] = func(args []string) int {
		err := escapes[args[0]](args[1:])
		fmt.Println(err)
		if err == nil {
			return escaped
		}
		return held
	}
	children["keyring"] = keyring
	children["keys"] = keys
}

// keyring goes on as "keys", with a key in the keyring of its session, if the system has keys.
func keyring(args []string) int {
	runtime.LockOSThread()
	const joinSession, ofSession = 1, ^uintptr(2)
	kind, name, value := []byte("user\x00"), []byte("jail-test\x00"), []byte("secret")
	err := call(syscall.SYS_KEYCTL, joinSession)
	if err == nil {
		err = call(syscall.SYS_ADD_KEY, uintptr(unsafe.Pointer(&kind[0])), uintptr(unsafe.Pointer(&name[0])),
			uintptr(unsafe.Pointer(&value[0])), uintptr(len(value)), ofSession)
	}
	if err != nil {
		fmt.Println("no keys:", err)
		return 0
	}
	self, _ := os.Executable()
	os.Setenv(childMode, "keys")
	fmt.Println(syscall.Exec(self, append([]string{self}, args...), os.Environ()))
	return 1
}

// keys looks for the key without and with a jail.
func keys(args []string) int {
	self, _ := os.Executable()
	cmd := process.Command{Path: self, Args: []string{"keys"}, Root: args[0],
		Env: []string{childMode + "=escape", quick}}
	for _, cmd.Jail = range []*process.Jail{nil, new(process.Jail)} {
		r, err := process.Run(context.Background(), cmd)
		fmt.Print(r.ExitCode, " ", err, "\n")
	}
	return 0
}

var errHeld = errors.New("there is nothing")

// escapes are attempts to get out of a jail. They return nil if they succeed.
var escapes = map[string]func(args []string) error{
	"read": func(args []string) error { _, err := os.ReadFile(args[0]); return err },
	"list": func(args []string) error { // what leads to the root, and to its own file, doesn't count
		list, err := os.ReadDir(args[0])
		root, _ := os.Getwd()
		self, _ := os.Executable()
		list = slices.DeleteFunc(list, func(e os.DirEntry) bool {
			at := filepath.Join(args[0], e.Name()) + "/"
			return strings.HasPrefix(root+"/", at) || strings.HasPrefix(self, at)
		})
		if err == nil && len(list) == 0 {
			err = errHeld
		}
		fmt.Println(list)
		return err
	},
	"connect": func(args []string) error { return connect(args[0], args[1]) },
	"bus": func([]string) error { // as programs for D-Bus do
		return connect("unix", strings.TrimPrefix(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "unix:path="))
	},
	"signal": func(args []string) error { return syscall.Kill(atoi(args[0]), 0) },
	"trace":  func(args []string) error { runtime.LockOSThread(); return syscall.PtraceAttach(atoi(args[0])) },
	"pidfd":  func(args []string) error { return call(434, uintptr(atoi(args[0])), 0, 0) },
	"type": func([]string) error { // into the terminal, as if a person did
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		fds := []uintptr{0, 1, 2}
		if err == nil {
			fds = append(fds, tty.Fd())
		}
		c := byte('x')
		for _, fd := range fds {
			if err = call(syscall.SYS_IOCTL, fd, syscall.TIOCSTI, uintptr(unsafe.Pointer(&c))); err == nil {
				return nil
			}
		}
		return err
	},
	"environment": func([]string) error {
		for _, kv := range os.Environ() {
			if strings.Contains(kv, "secret") {
				return nil
			}
		}
		return errHeld
	},
	"descriptors": func([]string) error {
		for fd := uintptr(3); fd < 1000; fd++ {
			flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0)
			if errno == 0 && flags&syscall.FD_CLOEXEC == 0 { // those that are opened here have it
				to, _ := os.Readlink("/proc/self/fd/" + itoa(int(fd)))
				fmt.Println(fd, to)
				return nil
			}
		}
		return errHeld
	},
	"memory": func(args []string) error { return call(sharedMemoryCalls[0], uintptr(atoi(args[0])), 0, 0) },
	"keys": func([]string) error {
		kind, name := []byte("user\x00"), []byte("jail-test\x00")
		for _, ring := range []int{-3, -4, -5} {
			if call(syscall.SYS_KEYCTL, 10, uintptr(ring), uintptr(unsafe.Pointer(&kind[0])),
				uintptr(unsafe.Pointer(&name[0])), 0) == nil {
				return nil
			}
		}
		return errHeld
	},
	"write": func(args []string) error {
		_ = os.MkdirAll(filepath.Dir(args[0]), 0o755)
		return os.WriteFile(args[0], []byte("made"), 0o755)
	},
	"open": func(args []string) error { _, err := os.OpenFile(args[0], os.O_WRONLY, 0); return err },
	"replace": func(args []string) error {
		err := os.Rename(args[0], "away")
		if err != nil {
			err = os.Remove(args[0])
		}
		if err != nil {
			return err
		}
		return os.Symlink("/tmp", args[0])
	},
	"linkto": func(args []string) error {
		if err := os.Link(args[0], "linked"); err != nil {
			return err
		}
		return os.WriteFile("linked", []byte("made"), 0o755)
	},
	"mode": func(args []string) error { return os.Chmod(args[0], 0o777) },
	"mount": func(args []string) error {
		return syscall.Mount("", args[0], "", syscall.MS_REMOUNT|syscall.MS_BIND, "")
	},
	"unmount": func(args []string) error {
		return syscall.Unmount(args[0], syscall.MNT_DETACH)
	},
	"unshare": func(args []string) error { // in a user namespace of its own it has all privileges
		runtime.LockOSThread()
		if err := syscall.Unshare(syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS); err != nil {
			return err
		}
		err := syscall.Unmount(args[0], syscall.MNT_DETACH)
		if err != nil {
			err = syscall.Mount("", args[0], "", syscall.MS_REMOUNT|syscall.MS_BIND, "")
		}
		return err
	},
	"device": func([]string) error { return syscall.Mknod("disk", syscall.S_IFBLK|0o600, 8<<8) },
	"root":   func([]string) error { return syscall.Chroot(".") },
	"privileges": func([]string) error {
		text, err := os.ReadFile("/proc/self/status")
		for _, line := range []string{"NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n",
			"CapBnd:\t0000000000000000\n"} {
			if err == nil && !strings.Contains(string(text), line) {
				fmt.Printf("not %q\n", line)
				return nil
			}
		}
		return errHeld
	},
}

func connect(network, address string) error {
	c, err := net.Dial(network, address)
	if err == nil {
		c.Close()
	}
	return err
}

func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// sharedMemoryCalls are the numbers of shmget and shmctl, which package syscall has for some
// architectures only.
var sharedMemoryCalls = func() [2]uintptr {
	switch runtime.GOARCH {
	case "amd64":
		return [2]uintptr{29, 31}
	case "arm":
		return [2]uintptr{307, 308}
	case "arm64", "riscv64", "loong64":
		return [2]uintptr{194, 195}
	case "mips64", "mips64le":
		return [2]uintptr{5028, 5030}
	case "mips", "mipsle":
		return [2]uintptr{4395, 4396}
	}
	return [2]uintptr{395, 396}
}()

// sharedMemory makes a segment that other processes find by its key.
func sharedMemory(t *testing.T) (key int) {
	t.Helper()
	key = 0x70000000 + os.Getpid()
	const create = 0o1000
	id, _, errno := syscall.Syscall(sharedMemoryCalls[0], uintptr(key), 4096, create|0o600)
	require.Zero(t, errno)
	t.Cleanup(func() { _, _, _ = syscall.Syscall(sharedMemoryCalls[1], id, 0, 0) })
	return key
}
