package agent

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

type hostKey struct{}

func newContexts(t *testing.T) *exec {
	x := new(exec)
	x.own, x.end = context.WithCancelCause(context.WithValue(t.Context(), hostKey{}, "theirs"))
	x.ctx, x.jctx = runContext{x}, endlessContext{x}
	return x
}

func TestARunsContextEndsAndTheJournalsDoesNot(t *testing.T) {
	x, why := newContexts(t), errors.New("enough")
	derived, cancel := context.WithCancel(x.ctx)
	defer cancel()
	x.cancel(why)
	<-derived.Done()
	require.ErrorIs(t, x.ctx.Err(), context.Canceled)
	require.Equal(t, why, context.Cause(x.ctx))
	require.Equal(t, why, context.Cause(derived))

	require.NoError(t, x.jctx.Err())
	require.NoError(t, context.Cause(x.jctx))
	require.Nil(t, x.jctx.Done())
	kept, release := context.WithCancel(x.jctx)
	defer release()
	require.NoError(t, kept.Err())
}

func TestARunsContextNamesTheRunAndTheJournalsNone(t *testing.T) {
	x := newContexts(t)
	defer x.cancel(nil)
	require.Same(t, x, execOf(x.ctx))
	require.Nil(t, execOf(x.jctx))
	require.Equal(t, "theirs", x.ctx.Value(hostKey{}))
	require.Equal(t, "theirs", x.jctx.Value(hostKey{}))
	_, outer := t.Context().Deadline()
	_, limited := x.ctx.Deadline()
	require.Equal(t, outer, limited)
	_, limited = x.jctx.Deadline()
	require.False(t, limited)

	inner := &exec{a: x.a} // of an agent that is a tool
	inner.own, inner.end = context.WithCancelCause(x.ctx)
	inner.ctx, inner.jctx = runContext{inner}, endlessContext{inner}
	defer inner.cancel(nil)
	require.Same(t, inner, execOf(inner.ctx))
	require.Nil(t, execOf(inner.jctx))
}

func TestContextsDerivedFromARunsCostNoGoroutine(t *testing.T) {
	x := newContexts(t)
	defer x.cancel(nil)
	before := runtime.NumGoroutine()
	for range 100 {
		_, cancel := context.WithCancel(x.ctx)
		defer cancel()
	}
	require.Less(t, runtime.NumGoroutine(), before+100)
}
