package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// A workshop is a server that makes answers in the background.
type workshop struct {
	takes time.Duration
	ends  string // the status at the end; "": completed

	mu       sync.Mutex // guards what follows
	made     []time.Time
	looks    int
	canceled []string
	broken   int // the number of looks that fail
	bodies   []string
}

func (w *workshop) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	path, status, body := r.URL.Path, http.StatusOK, ""
	id, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(path, "/v1/responses/resp_"), "/cancel"))
	switch {
	case path == "/v1/responses":
		raw, _ := io.ReadAll(r.Body)
		w.bodies = append(w.bodies, string(raw))
		w.made = append(w.made, time.Now())
		body = w.answer(len(w.made))
	case strings.HasSuffix(path, "/cancel"):
		w.canceled = append(w.canceled, path)
		body = "{}"
	case w.broken > 0:
		w.broken--
		status, body = http.StatusBadGateway, "broken"
	case id < 1 || id > len(w.made):
		status, body = http.StatusNotFound, `{"error":{"message":"no such response"}}`
	default:
		w.looks++
		body = w.answer(id)
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// answer returns an answer as it stands.
func (w *workshop) answer(id int) string {
	head := `{"id":"resp_` + strconv.Itoa(id) + `","model":"m",`
	switch age := time.Since(w.made[id-1]); {
	case age >= w.takes && w.ends != "":
		return head + `"status":"` + w.ends + `","output":[]}`
	case age >= w.takes:
		return head + `"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Answer ` +
			strconv.Itoa(id) + `."}]}],"usage":{"input_tokens":3,"output_tokens":2}}`
	case age > 0:
		return head + `"status":"in_progress","output":[]}`
	}
	return head + `"status":"queued"}`
}

func (w *workshop) model(t *testing.T, store Pending) *Model {
	t.Helper()
	m, err := New(Config{Model: "m", APIKey: "k", BaseURL: "https://example.com/v1", API: Responses,
		HTTPClient: &http.Client{Transport: w}, Pending: store})
	require.NoError(t, err)
	return m
}

// later is a request in background mode.
func later(session string) *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("Hi")},
		Labels:  provider.Labels{Session: session},
		Options: map[string]json.RawMessage{"openai": json.RawMessage(`{"background":true}`)}}
}

func TestAnAnswerInTheBackgroundIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workshop{takes: 9 * time.Minute}
		g, err := guard.New(w.model(t, nil), guard.Config{})
		require.NoError(t, err)
		res, err := provider.Generate(t.Context(), g, later("s"))
		require.NoError(t, err)
		require.Equal(t, "Answer 1.", res.Text())
		require.Equal(t, "resp_1", res.ID)
		require.EqualValues(t, 2, res.Usage.Output)
		require.Len(t, w.made, 1)
		require.Less(t, w.looks, 70)
		require.Contains(t, w.bodies[0], `"store":true`)
		require.Contains(t, w.bodies[0], `"stream":false`)

		// The same request later is another one.
		res, err = provider.Generate(t.Context(), g, later("s"))
		require.NoError(t, err)
		require.Equal(t, "Answer 2.", res.Text())
	})
}

func TestAnAnswerInTheBackgroundOutlivesAFailureOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workshop{takes: 5 * time.Hour, broken: 1}
		g, err := guard.New(w.model(t, nil), guard.Config{
			Retry: map[fault.Class]guard.Retry{fault.Degraded: {Attempts: 2}}})
		require.NoError(t, err)
		res, err := provider.Generate(t.Context(), g, later("s"))
		require.NoError(t, err)
		require.Equal(t, "Answer 1.", res.Text())
		require.Len(t, w.made, 1)
		require.Empty(t, w.canceled)
	})
}

// A kept store is that of a host.
type kept struct {
	pendingHere
	fails error
}

func (k *kept) Pending(ctx context.Context, key string) (string, error) {
	if k.fails != nil {
		return "", k.fails
	}
	return k.pendingHere.Pending(ctx, key)
}

func TestAnotherProcessWaitsForAnAnswerInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := &workshop{takes: time.Hour}, &kept{}
		ctx, kill := context.WithTimeout(t.Context(), time.Minute)
		_, err := provider.Generate(ctx, w.model(t, store), later("s"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		kill()
		ctx, kill = context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, kill)
		_, err = provider.Generate(ctx, w.model(t, store), later("s"))
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, w.canceled)

		time.Sleep(2 * time.Hour)
		res, err := provider.Generate(t.Context(), w.model(t, store), later("s"))
		require.NoError(t, err)
		require.Equal(t, "Answer 1.", res.Text())
		require.Len(t, w.made, 1)
		require.Empty(t, store.ids)

		// Another session's request is another one, and so is one without a session.
		for _, session := range []string{"t", ""} {
			ctx, kill := context.WithTimeout(t.Context(), time.Minute)
			_, err = provider.Generate(ctx, w.model(t, store), later(session))
			require.Error(t, err)
			kill()
		}
		require.Len(t, w.made, 3)
		require.Len(t, store.ids, 1)

		// An answer that the server has forgotten is asked for anew.
		for key := range store.ids {
			store.ids[key] = "resp_99"
		}
		_, err = provider.Generate(t.Context(), w.model(t, store), later("t"))
		var gone *provider.Error
		require.ErrorAs(t, err, &gone)
		require.Equal(t, http.StatusNotFound, gone.Status)
		res, err = provider.Generate(t.Context(), w.model(t, store), later("t"))
		require.NoError(t, err)
		require.Equal(t, "Answer 4.", res.Text())

		store.fails = errors.New("no disk")
		_, err = provider.Generate(t.Context(), w.model(t, store), later("t"))
		require.ErrorIs(t, err, store.fails)
		require.Len(t, w.made, 4)
	})
}

func TestACanceledAnswerInTheBackgroundIsCanceledAtTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i, session := range []string{"s", ""} {
			w := &workshop{takes: time.Hour}
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, stop)
			_, err := provider.Generate(ctx, w.model(t, nil), later(session))
			require.ErrorIs(t, err, context.Canceled, i)
			require.Equal(t, []string{"/v1/responses/resp_1/cancel"}, w.canceled)
		}
	})
}

func TestAnAnswerInTheBackgroundThatNobodyWantsIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workshop{takes: time.Hour}
		for c, err := range w.model(t, nil).Stream(t.Context(), later("s")) {
			require.NoError(t, err)
			require.Equal(t, provider.KindWaiting, c.Kind)
			require.Equal(t, provider.WaitBackground, c.Extra.Wait.Reason)
			break
		}
		require.Equal(t, []string{"/v1/responses/resp_1/cancel"}, w.canceled)
	})
}

func TestAFailedAnswerInTheBackgroundIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workshop{takes: time.Minute, ends: "failed"}
		m := w.model(t, nil)
		for i := range 2 {
			_, err := provider.Generate(t.Context(), m, later("s"))
			require.Equal(t, fault.Degraded, fault.Of(err))
			require.Len(t, w.made, i+1)
		}
	})
}
