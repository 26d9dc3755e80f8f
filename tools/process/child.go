package process

import (
	"os"
	"runtime"
)

// A Signal is a signal that ends a process group.
type Signal uint8

// The signals, in the order in which they are sent.
const (
	Interrupt Signal = iota
	Terminate
	Kill
)

// String returns "INT", "TERM" or "KILL".
func (s Signal) String() string {
	switch s {
	case Interrupt:
		return "INT"
	case Terminate:
		return "TERM"
	}
	return "KILL"
}

// A child is a started process, the leader of its group. One goroutine starts it, waits for its
// end, and reaps it when the owner allows: until then no other process can get its number or that
// of its group.
type child struct {
	process *os.Process
	exited  chan struct{} // closed when it has ended
	reap    chan struct{} // closed by its owner when the group needs no more signals
	reaped  chan struct{}
	state   *os.ProcessState // after reaped; nil: unknown
}

// startChild starts a process. With jailed, it doesn't have the keys of this process's session. The
// owner must close reap eventually.
func startChild(path string, argv []string, attr *os.ProcAttr, jailed bool) (*child, error) {
	c := &child{exited: make(chan struct{}), reap: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The system sends the parent-death signal when the thread that started the child dies.
		// This locks the thread for the child's lifetime.
		runtime.LockOSThread()
		if jailed {
			withoutKeys() // the thread ends with this goroutine, since it isn't unlocked
		} else {
			defer runtime.UnlockOSThread()
		}
		p, err := os.StartProcess(path, argv, attr)
		c.process = p
		started <- err
		if err != nil {
			return
		}
		if !awaitEnd(p) {
			c.state, _ = p.Wait() // on this system, waiting also reaps
		}
		close(c.exited)
		<-c.reap
		if c.state == nil {
			c.state, _ = p.Wait()
		}
		close(c.reaped)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// hasExited reports whether the process has ended.
func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}
