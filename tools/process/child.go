package process

import (
	"os"
	"runtime"
)

// A Signal is what a process group is sent to end it.
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

// A child is a started process, the leader of its group. One goroutine starts it, waits for its end, and reaps it once it
// may: until then nobody else can get its number, nor that of its group.
type child struct {
	process *os.Process
	exited  chan struct{} // closed when it has ended
	reap    chan struct{} // closed by its owner when the group needs no more signals
	reaped  chan struct{}
	state   *os.ProcessState // after reaped; nil: unknown
}

// startChild starts a process. The owner closes reap in the end, whatever happens.
func startChild(path string, argv []string, attr *os.ProcAttr) (*child, error) {
	c := &child{exited: make(chan struct{}), reap: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The signal that a child gets when its parent dies comes when the thread does that started it. This one lives as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p, err := os.StartProcess(path, argv, attr)
		c.process = p
		started <- err
		if err != nil {
			return
		}
		if !awaitEnd(p) {
			c.state, _ = p.Wait() // there is no way to wait without reaping
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
