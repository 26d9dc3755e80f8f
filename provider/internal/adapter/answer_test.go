package adapter

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestTheErrorOfACanceledCallIsTheCause(t *testing.T) {
	plain := errors.New("enough")
	for _, c := range []struct {
		cause error
		want  fault.Class
	}{
		{nil, fault.None}, {plain, fault.None}, {fault.Wrap(fault.RateLimited, plain), fault.RateLimited},
		{fault.Wrap(fault.Permanent, plain), fault.Permanent}, {context.DeadlineExceeded, fault.Transient},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		err := Over(ctx)
		require.ErrorIs(t, err, context.Cause(ctx))
		require.Equal(t, c.want, fault.Of(err), "%v", c.cause)
	}
}

func TestACallThatRanOutOfTimeMayBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cause := range []error{nil, errors.New("too slow")} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			<-ctx.Done()
			require.Equal(t, fault.Transient, fault.Of(Over(ctx)))
			require.ErrorIs(t, Over(ctx), context.Cause(ctx))
			cancel()
		}
	})
}

func TestABrokenStreamIsIncomplete(t *testing.T) {
	require.Equal(t, provider.ErrIncomplete, Broken(nil))
	require.Equal(t, provider.ErrIncomplete, Broken(io.EOF))
	for err, want := range map[error]fault.Class{
		errors.New("the wire is gone"): fault.Transient, context.Canceled: fault.Transient,
		io.ErrUnexpectedEOF:                  fault.Transient,
		fault.New(fault.Degraded, "closing"): fault.Degraded,
	} {
		broken := Broken(err)
		require.ErrorIs(t, broken, provider.ErrIncomplete)
		require.ErrorIs(t, broken, err)
		require.Equal(t, want, fault.Of(broken), "%v", err)
	}
}

func TestARequestWithoutAnAnswerHasAClass(t *testing.T) {
	require.Equal(t, fault.Transient, Unreached(context.Canceled), "it wasn't the caller who canceled")
	require.Equal(t, fault.Degraded, Unreached(fault.New(fault.Degraded, "closed")))
}

func TestAnAnswerThatCannotBeReadMayBeTriedAgain(t *testing.T) {
	cause := errors.New("no digit")
	require.EqualError(t, Garbled("acme", "an event", cause), "acme: the answer can't be read: an event: no digit")
	require.ErrorIs(t, Garbled("acme", "an event", cause), cause)
	require.EqualError(t, Garbled("acme", "an event", nil), "acme: the answer can't be read: an event")
	require.Equal(t, fault.Transient, fault.Of(Garbled("acme", "an event", nil)))
}

func TestTheFirstByteIsLeftUnread(t *testing.T) {
	br := bufio.NewReader(iotest.OneByteReader(strings.NewReader("\xEF\xBB\xBF \r\n\t{\"a\": 1}")))
	first, err := firstByte(br)
	require.NoError(t, err)
	require.Equal(t, byte('{'), first)
	rest, err := io.ReadAll(br)
	require.NoError(t, err)
	require.Equal(t, `{"a": 1}`, string(rest))
	_, err = firstByte(bufio.NewReader(strings.NewReader(" \n")))
	require.Equal(t, io.EOF, err)
}

// foreign is a transport of a host.
type foreign struct{ http.RoundTripper }

func TestRequestsEndWithTheirContextUnlessAFunctionOfTheHostMayIgnoreIt(t *testing.T) {
	base, err := url.Parse("https://api.acme.com")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		cfg  ClientConfig
		want bool
	}{
		"no client":         {ClientConfig{}, true},
		"net/http's own":    {ClientConfig{HTTPClient: &http.Client{Transport: &http.Transport{}}}, true},
		"another":           {ClientConfig{HTTPClient: &http.Client{Transport: foreign{http.DefaultTransport}}}, false},
		"a key of a host":   {ClientConfig{AsksHost: true}, false},
		"a cloud":           {ClientConfig{}.In(&Cloud{Base: base}), true},
		"a cloud that asks": {ClientConfig{}.In(&Cloud{Base: base, AsksHost: true}), false},
	} {
		require.Equal(t, c.want, NewClient(c.cfg).EndsWithContext(), name)
	}
	require.False(t, (*Client)(nil).EndsWithContext())
}
