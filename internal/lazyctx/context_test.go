package lazyctx

import (
	"context"
	"errors"
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
