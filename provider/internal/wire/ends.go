package wire

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream"
)

// Conformance runs the strict conformance suite on an adapter. Exchange 0 of c, which must be
// complete, is the answer to every call.
func Conformance(t *testing.T, fresh New, c *Case) {
	t.Helper()
	server := providertest.Replay(t, c.Take(0, 1), providertest.SplitRandom(1), providertest.Loop())
	providertest.Conformance(t, func() provider.Provider {
		return fresh(t, server.URL, server.Client(), c)
	}, providertest.Strict())
	gone(t, server)
}

// Past returns where the end of an answer begins, for [EveryCut]: at the last occurrence of text in
// the body. From the end of that line or event on, a decoder may know that the answer is complete;
// before the occurrence it can't.
func Past(text string) func(body []byte) (from int) {
	return func(body []byte) int { return bytes.LastIndex(body, []byte(text)) }
}

// every is how often EveryCut cuts.
var every = flag.Int("every", 10, "EveryCut cuts at one byte of so many, beside all ends of lines; 1: at each")

// EveryCut serves exchange 0 of c, a complete stream, cut at many of its bytes: around each line
// end, everywhere in the end of the answer, and at one in -every of the others.
// Each cut is made twice: once with the connection dropped, once with a regular end. A stream cut
// before the position that past returns must end in an error that isn't a cancellation, with the
// received chunks in order; the whole stream must end without an error. A stream cut within the end
// of the answer may end either way. No call may panic or keep its connection in use.
func EveryCut(t *testing.T, fresh New, c *Case, past func(body []byte) int) {
	t.Helper()
	body, err := c.Exchanges[0].Response.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	from := past(body)
	if from <= 0 || from >= len(body) {
		t.Fatalf("wire: the end of the answer doesn't begin within the body: %d of %d bytes", from, len(body))
	}
	cfg := Config{New: fresh}
	whole := cfg.play(t, c, 0)
	if whole.Err != nil {
		t.Fatalf("wire: the whole stream is an error: %v", whole.Err)
	}
	first := rand.IntN(*every)
	for at := range len(body) {
		lineEnd := bytes.IndexByte(body[max(at-1, 0):min(at+2, len(body))], '\n') >= 0
		if at%*every != first && !lineEnd && at < from-1 {
			continue
		}
		for name, cut := range map[string]providertest.ReplayOption{"dropped": providertest.CutAt(at),
			"ended": providertest.EndAt(at)} {
			o := cfg.cut(t, c, cut)
			switch {
			case o == nil:
				t.Fatalf("wire: %s after %d bytes: the call didn't release its connection", name, at)
			case o.Err == nil && at < from:
				t.Errorf("wire: %s after %d bytes of %d: no error", name, at, len(body))
			case o.Err == nil && o.Response.Text() != whole.Response.Text():
				t.Errorf("wire: %s after %d bytes of %d: no error, and the text %q", name, at, len(body),
					o.Response.Text())
			case o.Err != nil && provider.Canceled(o.Err):
				t.Errorf("wire: %s after %d bytes of %d: an error of class none: %v", name, at, len(body), o.Err)
			case !bytes.HasPrefix([]byte(whole.Response.Text()), []byte(o.Response.Text())):
				t.Errorf("wire: %s after %d bytes of %d: the text %q isn't a prefix of the whole text", name, at,
					len(body), o.Response.Text())
			}
			if t.Failed() {
				return // the other cuts would report the same
			}
		}
	}
}

// cut makes a call, and returns nil if it doesn't release its connection.
func (cfg *Config) cut(t *testing.T, c *Case, opt providertest.ReplayOption) *Outcome {
	t.Helper()
	server, err := providertest.NewReplayer(c.Take(0, 1), opt, providertest.Loop())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	res, err := provider.Generate(ctx, cfg.New(t, server.URL, server.Client(), c), question())
	if server.Wait(ctx) != nil {
		return nil
	}
	return &Outcome{Response: res, Err: err, Requests: len(server.Requests())}
}

var errEnough = errors.New("enough")

// Hanging checks that calls to a server that stops sending end, as the adapter declares
// ([provider.Cancelable]). It serves exchange 0 of c: nothing of the body, half of it, and three
// quarters of it; and it calls servers that don't get as far as a body. A call must end with its
// context, with an error of class none that has the context's cause, and with [stream.Idle], with a
// *[stream.TimeoutError]; and its connection must end.
func Hanging(t *testing.T, fresh New, c *Case) {
	t.Helper()
	body, err := c.Exchanges[0].Response.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range silences {
		s.call(t, fresh, c)
	}
	for _, at := range []int{0, len(body) / 2, len(body) * 3 / 4} {
		server := providertest.Replay(t, c.Take(0, 1), providertest.HangAt(at), providertest.Loop())
		p := fresh(t, server.URL, server.Client(), c)

		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(30*time.Millisecond, func() { cancel(errEnough) })
		_, err := provider.Generate(ctx, p, question())
		timer.Stop()
		cancel(nil)
		if !errors.Is(err, errEnough) || !provider.Canceled(err) {
			t.Errorf(
				"wire: silent after %d bytes of %d, canceled: got the error %v, which isn't the context's cause of "+
					"class none", at, len(body), err)
		}
		gone(t, server)

		_, err = stream.Collect(stream.Idle(t.Context(), 30*time.Millisecond, func(ctx context.Context) stream.Seq {
			return p.Stream(ctx, question())
		}))
		var late *stream.TimeoutError
		if !errors.As(err, &late) {
			t.Errorf("wire: silent after %d bytes of %d, idle: got the error %v, not a timeout", at, len(body), err)
		}
		gone(t, server)
	}
}

// gone fails the test if a call still holds its connection.
func gone(t *testing.T, server *providertest.Replayer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := server.Wait(ctx); err != nil {
		t.Errorf("wire: a call that has ended still holds its connection: %v", err)
	}
}
