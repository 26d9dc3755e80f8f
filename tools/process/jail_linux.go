package process

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"github.com/pawlkit/pawl/circuit/fault"
)

const syscallReadOnly = syscall.EROFS

// jailed is a run in a jail.
type jailed struct {
	jail  *Jail
	root  string
	words []string // to put before the program and its arguments

	status *os.File // what bubblewrap says
	first  int      // a descriptor of the first process in the jail; -1: it never began
	worked bool     // the program was started
}

// enter keeps the names of the root until leave is called.
func (j *Jail) enter(ctx context.Context, cmd *Command) (*jailed, error) {
	bwrap, err := Lookup("bwrap")
	if err != nil {
		return nil, doesntWork("there is no program bwrap in PATH", err)
	}
	root, err := filepath.EvalSymlinks(cmd.Root)
	if err != nil {
		return nil, unstarted(cmd.Path, err)
	}
	words, err := j.setup(cmd)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, unstarted(cmd.Path, err)
	}
	defer r.Close()
	at, err := openRoot(ctx, root) // it may wait, so mu isn't held
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if other := j.roots[root]; other != nil {
		at.lock.Close()
		at = other
	}
	if j.roots == nil {
		j.roots = make(map[string]*jailRoot)
	}
	j.roots[root] = at
	at.runs++
	x := &jailed{jail: j, root: root, first: -1}
	names, err := j.keep(r, root)
	if err != nil {
		j.left(root, true)
		return nil, err
	}
	words = append(append([]string{bwrap.Path, "--json-status-fd", "3"}, words...), names...)
	x.words = append(words, "--")
	return x, nil
}

// lockWait is how long a lock of the root may take. Other jails hold one of the kind that excludes
// others while they remove names, which takes less.
const lockWait = time.Second

// openRoot locks a root against the removal of names by other processes.
func openRoot(ctx context.Context, root string) (*jailRoot, error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, doesntWork("the root can't be opened", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, fault.Errorf(fault.Transient,
		"process: the jail can't lock %s: another process has locked it", root))
	defer cancel()
	const often = 5 * time.Millisecond
	// Some file systems have no locks.
	for errors.Is(syscall.Flock(int(dir.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		select {
		case <-time.After(often):
		case <-ctx.Done():
			dir.Close()
			return nil, context.Cause(ctx)
		}
	}
	at := &jailRoot{lock: dir, foreign: make(map[string]bool)}
	for _, name := range unkept {
		_, err := os.Lstat(filepath.Join(root, name))
		at.foreign[name] = err == nil
	}
	return at, nil
}

// listen returns the descriptor for bubblewrap's messages.
func (x *jailed) listen() (*os.File, error) {
	r, w, err := os.Pipe()
	x.status = r
	return w, err
}

// hear reads what bubblewrap says: the number of the first process, and its exit code if the
// program was started.
func (x *jailed) hear() {
	for messages := json.NewDecoder(x.status); ; {
		var m struct {
			Child int  `json:"child-pid"`
			Exit  *int `json:"exit-code"`
		}
		if messages.Decode(&m) != nil {
			return
		}
		x.worked = x.worked || m.Exit != nil
		if m.Child > 0 && x.first < 0 {
			const pidfdOpen = 434
			if fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(m.Child), 0, 0); errno == 0 {
				x.first = int(fd)
				syscall.CloseOnExec(x.first)
			}
		}
	}
}

// failed returns an error if the program ended by itself without having been started.
func (x *jailed) failed(r *Result) error {
	if x.worked || r.ExitCode <= 0 {
		return nil
	}
	return doesntWork(r.Output, nil)
}

// leave waits until all processes of the jail have ended, and removes what kept names.
func (x *jailed) leave() {
	gone := true
	if x.first >= 0 { // it ends after all others
		gone = waitEnd(x.first, goneIn)
		syscall.Close(x.first)
	}
	x.jail.mu.Lock()
	defer x.jail.mu.Unlock()
	x.jail.left(x.root, gone)
}

// left counts a run less. The caller holds mu.
func (j *Jail) left(root string, gone bool) {
	at := j.roots[root]
	at.runs--
	r, err := os.OpenRoot(root)
	if err == nil {
		defer r.Close()
		at.removeUnkept(r)
	}
	if at.runs > 0 {
		return
	}
	delete(j.roots, root)
	defer at.lock.Close()
	alone := !errors.Is(syscall.Flock(int(at.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
	if err == nil && gone && alone {
		j.clear(r)
	}
}

// removeUnkept removes what programs have made and git would read. What keeps a name stays for
// other runs.
func (at *jailRoot) removeUnkept(r *os.Root) {
	if dir, err := r.Lstat(".git"); err != nil || !dir.IsDir() {
		return
	}
	for _, name := range unkept {
		if info, err := r.Lstat(name); err == nil && !at.foreign[name] && !isPlaceholder(name, info) {
			_ = r.RemoveAll(name)
		}
	}
}

// ofAnother reports whether a file belongs to another user, so that this one can't change its
// permissions.
func ofAnother(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}

// waitEnd waits until a process has ended, for a time at most.
func waitEnd(pidfd int, most time.Duration) bool {
	until := time.Now().Add(most)
	for {
		poll := struct {
			fd              int32
			events, revents int16
		}{int32(pidfd), 1, 0} // POLLIN
		left := syscall.NsecToTimespec(max(time.Until(until), 0).Nanoseconds())
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1,
			uintptr(unsafe.Pointer(&left)), 0, 0, 0)
		if errno != syscall.EINTR {
			return n == 1
		}
	}
}
