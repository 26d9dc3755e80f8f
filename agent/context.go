package agent

import (
	"context"
	"time"
)

type execKey struct{}

// execOf returns the run that ctx belongs to, or nil.
func execOf(ctx context.Context) *exec {
	if ctx == nil {
		return nil
	}
	x, _ := ctx.Value(execKey{}).(*exec)
	return x
}

// A runContext is the context of a run, and names it. The context package finds a standard one behind it, so that contexts
// derived from it cost no goroutine.
type runContext struct{ x *exec }

func (c runContext) Deadline() (time.Time, bool) { return c.x.own.Deadline() }

func (c runContext) Done() <-chan struct{} { return c.x.own.Done() }

func (c runContext) Err() error { return c.x.own.Err() }

func (c runContext) Value(key any) any {
	if _, ok := key.(execKey); ok {
		return c.x
	}
	return c.x.own.Value(key)
}

// cancel ends the context of a run.
func (x *exec) cancel(cause error) { x.end(cause) }

// An endlessContext has the values of a run's context. It doesn't end, and is that of no run.
type endlessContext struct{ x *exec }

func (endlessContext) Deadline() (time.Time, bool) { return time.Time{}, false }

func (endlessContext) Done() <-chan struct{} { return nil }

func (endlessContext) Err() error { return nil }

func (c endlessContext) Value(key any) any {
	if _, ok := key.(execKey); ok {
		return (*exec)(nil)
	}
	return context.WithoutCancel(c.x.own).Value(key)
}
