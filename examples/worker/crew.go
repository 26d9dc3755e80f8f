package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
)

// itself returns the command that starts this program again.
var itself = func(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	return exec.CommandContext(ctx, path, args...)
}

// A crew is the worker processes. One that dies is replaced.
type crew struct {
	p     *program
	group sync.WaitGroup

	mu  sync.Mutex // guards what follows
	all map[int]*os.Process
}

// keep starts n processes, and others in place of those that die, until ctx ends. Then it waits for
// them.
func (c *crew) keep(ctx context.Context, n int) {
	for range n {
		c.group.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if err := c.one(ctx); err != nil && ctx.Err() == nil {
					c.p.log.Error("a worker process couldn't work", "error", err)
				}
				if time.Since(began) < time.Second { // it couldn't even start
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	c.group.Wait()
}

// one starts a process and waits for its end. When ctx ends, the process is asked to end: its
// standard input is closed.
func (c *crew) one(ctx context.Context) error {
	p := c.p
	cmd := itself(context.WithoutCancel(ctx), driveCommand, "-db", p.db,
		"-lease", p.lease.String(), "-pace", strconv.FormatFloat(p.pace, 'g', -1, 64))
	cmd.Env = append(cmd.Environ(), dsnVariable+"="+p.dsn) // a password isn't for lists of processes
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	pid := cmd.Process.Pid
	c.mu.Lock()
	c.all[pid] = cmd.Process
	c.mu.Unlock()
	defer context.AfterFunc(ctx, func() { in.Close() })()
	err = cmd.Wait()
	c.mu.Lock()
	delete(c.all, pid)
	c.mu.Unlock()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() < 0 { // by a signal, whoever sent it
		return p.ledger.LeftPID(context.WithoutCancel(ctx), pid, ledger.Killed)
	}
	return err
}

// kill ends the process of a worker at once, without a chance to clean up.
func (c *crew) kill(ctx context.Context, id int) error {
	pid, err := c.p.ledger.PID(ctx, id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	process := c.all[pid]
	c.mu.Unlock()
	if process == nil {
		return fmt.Errorf("worker %d isn't one of these processes, or has ended", id)
	}
	return process.Kill()
}

// chaos kills a worker at random moments, preferably one that drives runs.
func (c *crew) chaos(ctx context.Context, every time.Duration) {
	for {
		select {
		case <-time.After(every/2 + rand.N(every)):
		case <-ctx.Done():
			return
		}
		busy, err := c.p.ledger.Busy(ctx)
		if err == nil && len(busy) > 0 {
			err = c.kill(ctx, busy[rand.IntN(len(busy))])
		}
		if err != nil && ctx.Err() == nil {
			c.p.log.Warn("nobody was killed", "error", err)
		}
	}
}
