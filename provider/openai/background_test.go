package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	status int    // of looks that fail; 0: 502
	advice string // Retry-After of looks that fail
	html   bool   // looks that fail have status 200
	hang   string // the method of the next request that isn't answered
	half   bool   // it is answered, but its body doesn't end
}

func (w *workshop) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	header := http.Header{"Content-Type": {"application/json"}}
	if w.hang == r.Method {
		w.hang = ""
		if w.half {
			return &http.Response{StatusCode: http.StatusOK, Header: header, Body: silent{r.Context()}, Request: r}, nil
		}
		w.mu.Unlock()
		defer w.mu.Lock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
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
		status, body = cmp.Or(w.status, http.StatusBadGateway), "broken"
		if w.html {
			status = http.StatusOK
		}
		if w.advice != "" {
			header.Set("Retry-After", w.advice)
		}
	case id < 1 || id > len(w.made):
		status, body = http.StatusNotFound, `{"error":{"message":"no such response"}}`
	default:
		w.looks++
		body = w.answer(id)
	}
	return &http.Response{StatusCode: status, Header: header,
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// silent is a body that never comes.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (silent) Close() error { return nil }

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
			Retry: map[fault.Class]fault.Retry{fault.Degraded: {Attempts: 2}}})
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

func TestALookInTheBackgroundThatIsntAnsweredIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, half := range []bool{false, true} {
			w := &workshop{takes: 5 * time.Minute, hang: http.MethodGet, half: half}
			g, err := guard.New(w.model(t, nil), guard.Config{
				Retry: map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}}})
			require.NoError(t, err)
			res, err := provider.Generate(t.Context(), g, later("s"))
			require.NoError(t, err)
			require.Equal(t, "Answer 1.", res.Text())
			require.Len(t, w.made, 1)
		}
	})
}

func TestARequestForTheBackgroundThatIsntAnsweredFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, half := range []bool{false, true} {
			w, began := &workshop{hang: http.MethodPost, half: half}, time.Now()
			_, err := provider.Generate(t.Context(), w.model(t, nil), later("s"))
			require.ErrorIs(t, err, errLate)
			require.Equal(t, fault.Transient, fault.Of(err))
			require.Equal(t, time.Minute, time.Since(began))
		}
	})
}

func TestFailedLooksInTheBackgroundCostNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, html := range []bool{false, true} {
			w := &workshop{takes: 5 * time.Minute, broken: mostFailed - 1, html: html}
			res, err := provider.Generate(t.Context(), w.model(t, nil), later(""))
			require.NoError(t, err)
			require.Equal(t, "Answer 1.", res.Text())
		}
		for session, canceled := range map[string]int{"s": 0, "": 1} {
			w := &workshop{takes: time.Hour, broken: mostFailed}
			m := w.model(t, nil)
			_, err := provider.Generate(t.Context(), m, later(session))
			require.Equal(t, fault.Degraded, fault.Of(err))
			require.Zero(t, w.broken)
			require.Len(t, w.canceled, canceled)

			// An answer that was found is looked for as long.
			if session != "" {
				w.broken = mostFailed - 1
				res, err := provider.Generate(t.Context(), m, later(session))
				require.NoError(t, err)
				require.Equal(t, "Answer 1.", res.Text())
			}

			w = &workshop{takes: time.Hour, broken: 2, status: http.StatusForbidden}
			_, err = provider.Generate(t.Context(), w.model(t, nil), later(session))
			require.Equal(t, fault.UserFixable, fault.Of(err))
			require.Equal(t, 1, w.broken)
			require.Len(t, w.canceled, canceled)
		}
	})
}

func TestALookInTheBackgroundIsMadeWhenTheServerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for advice, wait := range map[string]time.Duration{"120": 2 * time.Minute, "3600": mostAdvice} {
			w := &workshop{takes: 2 * time.Second, broken: 1, status: http.StatusTooManyRequests, advice: advice}
			began := time.Now()
			_, err := provider.Generate(t.Context(), w.model(t, nil), later("s"))
			require.NoError(t, err)
			require.Equal(t, firstLook+wait, time.Since(began))
		}
	})
}

// A halt is like the machine.StopError of a run that a person has stopped.
type halt struct{ error }

func (halt) Words() string      { return "It was stopped." }
func (halt) Fault() fault.Class { return fault.None }

func TestAnAnswerInTheBackgroundOfACallThatIsMadeAgainGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			cause error
			again bool
		}{
			"preempted":  {fault.New(fault.None, "it starts again automatically"), true},
			"a leg":      {errors.New("the next leg goes on"), true},
			"a lease":    {fault.New(fault.Transient, "another process has it"), true},
			"a deadline": {context.DeadlineExceeded, true},
			"canceled":   {nil, false},
			"a person":   {fmt.Errorf("stopped: %w", halt{errors.New("canceled")}), false},
		} {
			w := &workshop{takes: time.Hour}
			m := w.model(t, nil)
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { stop(c.cause) })
			_, err := provider.Generate(ctx, m, later("s"))
			require.Error(t, err, name)
			res, err := provider.Generate(t.Context(), m, later("s"))
			require.NoError(t, err, name)
			if c.again {
				require.Empty(t, w.canceled, name)
				require.Equal(t, "Answer 1.", res.Text(), name)
			} else {
				require.Len(t, w.canceled, 1, name)
				require.Equal(t, "Answer 2.", res.Text(), name)
			}
		}
	})
}

func TestEqualRequestsInTheBackgroundGetAnAnswerEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for canceled := range 2 {
			w := &workshop{takes: time.Hour}
			m := w.model(t, nil)
			var texts [2]string
			var calls sync.WaitGroup
			for i := range texts {
				ctx, stop := context.WithCancel(t.Context())
				if i == canceled {
					time.AfterFunc(time.Minute, stop)
				}
				calls.Go(func() {
					defer stop()
					if res, err := provider.Generate(ctx, m, later("s")); err == nil {
						texts[i] = res.Text()
					}
				})
				synctest.Wait()
			}
			calls.Wait()
			require.Len(t, w.made, 2)
			require.Equal(t, []string{fmt.Sprintf("/v1/responses/resp_%d/cancel", canceled+1)}, w.canceled)
			require.Empty(t, texts[canceled])
			require.Equal(t, fmt.Sprintf("Answer %d.", 2-canceled), texts[1-canceled])
			require.Empty(t, m.waiting.keys)
		}
	})
}

func TestAnAnswerInTheBackgroundIsForgottenOnceItWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, at := range []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindEnd} {
			for _, breaks := range []bool{true, false} {
				w := &workshop{takes: time.Hour}
				m := w.model(t, nil)
				ctx, stop := context.WithCancel(t.Context())
				for c, err := range m.Stream(ctx, later("s")) {
					if err != nil || c.Kind != at {
						continue
					}
					if breaks {
						break
					}
					stop()
				}
				stop()
				res, err := provider.Generate(t.Context(), m, later("s"))
				require.NoError(t, err)
				if at == provider.KindEnd {
					require.Equal(t, "Answer 2.", res.Text())
				} else {
					require.Equal(t, "Answer 1.", res.Text())
				}
				require.Empty(t, w.canceled)
			}
		}
	})
}

func TestAnAnswerInTheBackgroundWithoutASessionIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, store := range []Pending{nil, &kept{}} {
			for _, cause := range []error{nil, context.DeadlineExceeded} {
				w := &workshop{takes: time.Hour}
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { stop(cause) })
				_, err := provider.Generate(ctx, w.model(t, store), later(""))
				require.Error(t, err)
				require.Equal(t, []string{"/v1/responses/resp_1/cancel"}, w.canceled)
			}
		}
	})
}

func TestTheOldestAnswerInTheBackgroundIsForgottenFirst(t *testing.T) {
	var p pendingHere
	set := func(i int, id string) {
		require.NoError(t, p.SetPending(t.Context(), strconv.Itoa(i), id))
	}
	for i := range mostPending {
		set(i, "a")
	}
	for i := range mostPending { // none is new
		set(i, "b")
	}
	require.Len(t, p.ids, mostPending)
	set(3, "") // makes room
	for i := range 5 {
		set(mostPending+i, "c")
	}
	require.Len(t, p.ids, mostPending)
	require.Len(t, p.keys, mostPending)
	for i := range mostPending + 5 {
		id, err := p.Pending(t.Context(), strconv.Itoa(i))
		require.NoError(t, err)
		require.Equal(t, i < 5, id == "", i)
	}
}

func TestAPrintedConfigNamesItsServer(t *testing.T) {
	require.Contains(t, fmt.Sprint(Config{Model: "m", Server: "groq"}), `Server:"groq"`)
}

func TestAModelThatNewDidntMakeHasNoBackground(t *testing.T) {
	_, err := provider.Generate(t.Context(), &Model{model: "m"}, later("s"))
	require.ErrorContains(t, err, "New")
}
