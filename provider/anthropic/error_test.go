package anthropic_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestStatusesHaveTheirClassAndOneRequest(t *testing.T) {
	for status, want := range map[int]fault.Class{
		400: fault.Permanent, 401: fault.UserFixable, 402: fault.UserFixable, 403: fault.UserFixable,
		404: fault.Permanent, 408: fault.Transient,
		409: fault.Permanent, 413: fault.Permanent, 422: fault.Permanent, 425: fault.Transient, 429: fault.RateLimited,
		500: fault.Degraded,
		502: fault.Degraded, 503: fault.Degraded, 504: fault.Degraded, 529: fault.Degraded,
	} {
		tr := &wire.Offline{Reply: wire.Always(status,
			`{"type":"error","error":{"type":"some_error","message":"No."},"request_id":"req_body"}`, "Request-Id",
			"req_head")}
		_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{APIKey: "k"}, tr), ask("x"))
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, fault.Of(err), status)
		require.Equal(t, status, e.Status)
		require.Equal(t, "some_error", e.Type)
		require.Equal(t, "No.", e.Message)
		require.Equal(t, "req_head", e.RequestID)
		require.Nil(t, e.Wait)
		require.Len(t, tr.Asked, 1, "retries are not the adapter's")
		require.Equal(t, want == fault.UserFixable, e.Remedy != "")
	}
}

func TestABillingErrorIsUserFixable(t *testing.T) {
	for _, message := range []string{"Your credit balance is too low to access the Anthropic API.",
		"You have reached your specified API usage limits."} {
		tr := &wire.Offline{Reply: wire.Always(400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"`+message+`"}}`)}
		_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{}, tr), ask("x"))
		require.Equal(t, fault.UserFixable, fault.Of(err))
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Remedy, "billing")
	}
}

func TestTheAdviceToWaitIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "17", 17 * time.Second}, {"Retry-After-Ms", "1500", 1500 * time.Millisecond},
			{"Retry-After", "0", 0}, {"Retry-After", "-3", 0},
			{"Retry-After", "soon", 0},
			{"Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat), time.Minute},
		} {
			tr := &wire.Offline{Reply: wire.Always(429,
				`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, c.name, c.value)}
			_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{}, tr), ask("x"))
			wait, ok := fault.RetryAfter(err)
			require.Equal(t, c.want > 0, ok, c.value)
			require.Equal(t, c.want, wait, c.value)
		}
	})
}

func TestErrorsOfGatewaysAreDecoded(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"unknown model"}`:          "unknown model",
		`{"message":"no route"}`:             "no route",
		`{"detail":"not here"}`:              "not here",
		"<html>\n<b>Bad</b>  gateway</html>": "<html> <b>Bad</b> gateway</html>",
		`{"oops":1}`:                         `{"oops":1}`,
		strings.Repeat("é", 200):             strings.Repeat("é", 150) + "…",
		"":                                   "Bad Gateway",
	} {
		_, err := provider.Generate(t.Context(),
			connect(t, anthropic.Config{}, &wire.Offline{Reply: wire.Always(502, body)}), ask("x"))
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, e.Message)
		require.Equal(t, fault.Degraded, e.Fault())
	}
}

type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestNetworkErrorsHaveTheirClass(t *testing.T) {
	for err, want := range map[error]fault.Class{
		syscall.ECONNREFUSED: fault.Degraded, syscall.ECONNRESET: fault.Transient, io.ErrUnexpectedEOF: fault.Transient,
		errors.New("odd"): fault.Permanent,
	} {
		_, got := provider.Generate(t.Context(), connect(t, anthropic.Config{}, broken{err}), ask("x"))
		require.ErrorIs(t, got, err)
		require.Equal(t, want, fault.Of(got), err.Error())
	}
	for _, err := range []error{syscall.ECONNRESET, errors.New("odd"), context.Canceled} { // within an answer
		start := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m\"}}\n\n"
		r, got := provider.Generate(t.Context(),
			offlineReader(t, io.MultiReader(strings.NewReader(start), broken{err})), ask("x"))
		require.ErrorIs(t, got, provider.ErrIncomplete)
		require.ErrorIs(t, got, err)
		require.Equal(t, fault.Transient, fault.Of(got))
		require.Equal(t, "m", r.Model)
	}
}

func TestTheEndOfTheContextIsTheError(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	tr := &wire.Offline{Reply: wire.Always(200, "")}
	_, err := provider.Generate(ctx, connect(t, anthropic.Config{}, tr), ask("x"))
	require.ErrorIs(t, err, enough)
	require.True(t, provider.Canceled(err))
	require.Empty(t, tr.Asked)

	late, stop := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second), enough)
	defer stop()
	_, err = provider.Generate(late, connect(t, anthropic.Config{}, tr), ask("x"))
	require.ErrorIs(t, err, enough)
	require.Equal(t, fault.Transient, fault.Of(err))

	slow, giveUp := context.WithCancelCause(t.Context())
	giveUp(fault.New(fault.RateLimited, "preempted"))
	_, err = provider.Generate(slow, connect(t, anthropic.Config{}, tr), ask("x"))
	require.Equal(t, fault.RateLimited, fault.Of(err), "a cause that says its class keeps it")
}

func TestStoppingAtAChunkOfACanceledCallYieldsNothingMore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := offline(t,
		[]byte(
			"data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	n := 0
	for range m.Stream(ctx, ask("x")) {
		n++
		cancel()
		break
	}
	require.Equal(t, 1, n)
}

func TestTheBodyIsClosed(t *testing.T) {
	for _, text := range []string{"data: {\"type\":\"message_stop\"}\n\n", "", "{}"} {
		body := &closing{Reader: bytes.NewReader([]byte(text))}
		m := connect(t, anthropic.Config{}, &wire.Offline{Reply: func(*http.Request) *http.Response {
			res := wire.Reply(200, nil)
			res.Body = body
			return res
		}})
		_, _ = provider.Generate(t.Context(), m, ask("x"))
		require.True(t, body.closed)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}
