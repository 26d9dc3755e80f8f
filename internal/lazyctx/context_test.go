package lazyctx

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errWhy = errors.New("why")

func TestAParentThatEndedFirstIsTheReasonThoughNobodyLooked(t *testing.T) {
	parent, stop := context.WithCancelCause(t.Context())
	c := &Context{Parent: parent}
	stop(errWhy)
	require.False(t, c.End(context.DeadlineExceeded))
	require.Equal(t, context.Canceled, c.Err())
	require.Equal(t, errWhy, context.Cause(c))
}

// A parentAtOdds has ended, but what was derived from it hasn't noticed: a context in the middle of its end.
type parentAtOdds struct {
	context.Context
	err error
}

func (p *parentAtOdds) Err() error { return p.err }

func TestTheStandardContextDecidesOnceItIsThere(t *testing.T) {
	p := &parentAtOdds{Context: context.Background()}
	c := &Context{Parent: p}
	done := c.Done()
	p.err = context.Canceled
	require.NoError(t, c.Err(), "Done isn't closed")
	require.True(t, c.End(errWhy))
	<-done
	require.Equal(t, context.Canceled, c.Err())
	require.Equal(t, errWhy, context.Cause(c))
	require.False(t, c.End(context.Canceled))
	require.Equal(t, context.Canceled, c.Err())
}

func TestWhatHappensToTheParentAfterTheEndMeansNothing(t *testing.T) {
	for name, ask := range map[string]func(*Context){"asked": func(c *Context) { c.Done() }, "never asked": func(*Context) {}} {
		t.Run(name, func(t *testing.T) {
			parent, stop := context.WithCancelCause(t.Context())
			c := &Context{Parent: parent}
			ask(c)
			require.NoError(t, context.Cause(c))
			require.True(t, c.End(errWhy))
			stop(nil)
			<-c.Done()
			require.Equal(t, errWhy, context.Cause(c))
			sub, cancel := context.WithCancel(c)
			defer cancel()
			require.Equal(t, errWhy, context.Cause(sub))
		})
	}
}

func TestNobodyWhoDoesntAskPays(t *testing.T) {
	parent, stop := context.WithCancel(t.Context())
	defer stop()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		c := Context{Parent: parent}
		if c.Err() != nil || !c.End(context.Canceled) {
			t.Fatal("it had ended")
		}
	}), 1.0)
}

// An unlike is an error that can't be compared.
type unlike struct{ of []string }

func (unlike) Error() string { return "unlike" }

func TestACauseNeedNotBeComparable(t *testing.T) {
	for name, ask := range map[string]func(*Context){"asked": func(c *Context) { c.Done() }, "never asked": func(*Context) {}} {
		t.Run(name, func(t *testing.T) {
			c := &Context{Parent: t.Context()}
			ask(c)
			c.Cancel(unlike{of: []string{"why"}})
			c.Cancel(errWhy) // too late
			require.Equal(t, context.Canceled, c.Err())
			require.Equal(t, unlike{of: []string{"why"}}, context.Cause(c))
		})
	}
}

func TestNoCauseIsTheStandardOne(t *testing.T) {
	c := &Context{Parent: t.Context()}
	c.Cancel(nil)
	require.Equal(t, context.Canceled, c.Err())
	require.Equal(t, context.Canceled, context.Cause(c))
	require.False(t, c.End(nil))
}

func TestWhoAsksWhileItEndsSeesOneEnd(t *testing.T) {
	for range 200 {
		parent, stop := context.WithCancelCause(t.Context())
		c := &Context{Parent: parent}
		var wg sync.WaitGroup
		wg.Go(func() { stop(errWhy) })
		wg.Go(func() { c.Cancel(context.DeadlineExceeded) })
		wg.Go(func() { c.Done() })
		var first error
		for first == nil {
			first = c.Err()
		}
		cause := context.Cause(c)
		wg.Wait()
		<-c.Done()
		require.Equal(t, first, c.Err())
		require.Equal(t, cause, context.Cause(c))
	}
}
