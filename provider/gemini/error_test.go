package gemini_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// failed makes a call that gets that status and body.
func failed(t testing.TB, status int, body string, header ...string) *provider.Error {
	t.Helper()
	m := connect(t, gemini.Config{APIKey: "AIzaSecretSecret"},
		&wire.Offline{Reply: wire.Always(status, body, header...)})
	_, err := provider.Generate(t.Context(), m, ask("hello"))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, fmt.Sprintf("%v %+v", err, err), "AIzaSecretSecret")
	return e
}

func TestAStatusHasAClassAndARemedy(t *testing.T) {
	told := func(status int, word, message, details string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, status, message, word,
			details)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		class  fault.Class
		remedy string
	}{
		"a wrong key": {400, told(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), fault.UserFixable,
			"GEMINI_API_KEY"},
		"no key": {401, told(401, "UNAUTHENTICATED", "Expected OAuth 2 access token.", ""),
			fault.UserFixable, "GEMINI_API_KEY"},
		"a key that may not": {403, told(403, "PERMISSION_DENIED", "Denied for consumer api_key:AIzaSecretSecret.", ""),
			fault.UserFixable, "Generative Language API"},
		"no billing": {400, told(400, "FAILED_PRECONDITION", "Please enable billing on project.", ""),
			fault.UserFixable, "billing"},
		"no quota at all": {429, told(429, "RESOURCE_EXHAUSTED",
			"Quota exceeded for metric: requests, limit: 0, model: gemini-3.1-pro", ""), fault.UserFixable, "billing"},
		"too many": {429, told(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: requests, limit: 10", ""),
			fault.RateLimited, ""},
		"a wrong request": {400, told(400, "INVALID_ARGUMENT", "Invalid JSON payload.", ""), fault.Permanent, ""},
		"no such model":   {404, told(404, "NOT_FOUND", "models/x is not found", ""), fault.Permanent, ""},
		"overloaded":      {503, told(503, "UNAVAILABLE", "The model is overloaded.", ""), fault.Degraded, ""},
		"in an array":     {500, "[" + told(500, "INTERNAL", "Internal error.", "") + "]", fault.Degraded, ""},
		"canceled there":  {499, told(499, "CANCELLED", "The operation was canceled.", ""), fault.Transient, ""},
		"a page":          {502, "<html><title>502</title></html>", fault.Degraded, ""},
		"a text":          {400, `{"error":"nonsense"}`, fault.Permanent, ""},
		"nothing":         {500, "", fault.Degraded, ""},
	} {
		e := failed(t, c.status, c.body)
		require.Equal(t, c.class, fault.Of(e), name)
		require.Equal(t, c.status, e.Status, name)
		require.Contains(t, e.Remedy, c.remedy, name)
		require.Equal(t, c.remedy == "", e.Remedy == "", name)
	}
}

func TestAnErrorKeepsTheProvidersWords(t *testing.T) {
	e := failed(t, 400,
		`{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT","details":[{"reason":"BAD_FIELD"}]}}`,
		"X-Request-Id", "r-1")
	require.Equal(t, []string{"gemini", gemini.DefaultModel, "INVALID_ARGUMENT", "BAD_FIELD", "Bad.", "r-1"},
		[]string{e.Provider, e.Model, e.Type, e.Code, e.Message, e.RequestID})
	require.Equal(t, "502", failed(t, 502, "<html><title>502</title></html>").Message)
}

func TestAdviceComesFromTheBodyOrTheHeader(t *testing.T) {
	body :=
		`{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"%s"}]}}`
	wait, ok := failed(t, 429, fmt.Sprintf(body, "34.4s")).RetryAfter()
	require.True(t, ok)
	require.Equal(t, 34400*time.Millisecond, wait)
	wait, ok = failed(t, 429, "{}", "Retry-After", "7").RetryAfter()
	require.True(t, ok)
	require.Equal(t, 7*time.Second, wait)
	_, ok = failed(t, 429, fmt.Sprintf(body, "0s")).RetryAfter()
	require.False(t, ok, "0 is no advice")
}

func TestADailyQuotaIsResetAtMidnightInCalifornia(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight UTC
		e := failed(t, 429,
			`{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"12s"},
			{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"250"}]}]}}`)
		require.Equal(t, fault.RateLimited, fault.Of(e))
		wait, ok := e.RetryAfter()
		require.True(t, ok)
		require.Equal(t, 8*time.Hour, wait)
	})
}

func TestAnErrorInsideAnAnswerIsAnError(t *testing.T) {
	for file, want := range map[string]provider.Error{
		"overloaded.sse": {Class: fault.Degraded, Type: "UNAVAILABLE", Code: "503",
			Message: "The model is overloaded."},
		"overloaded_plain.sse": {Class: fault.RateLimited, Type: "RESOURCE_EXHAUSTED", Code: "429",
			Message: "Slow down."},
	} {
		r, err := answer(t, file, ask("hello"))
		var e *provider.Error
		require.ErrorAs(t, err, &e, file)
		require.Equal(t, "I wa", r.Text())
		require.False(t, r.Complete)
		require.Equal(t, []any{want.Class, want.Type, want.Code, want.Message, 200, gemini.DefaultModel},
			[]any{e.Class, e.Type, e.Code, e.Message, e.Status, e.Model})
		_, advised := e.RetryAfter()
		require.Equal(t, want.Class == fault.RateLimited, advised)
	}
}

func TestAnErrorInsideAnAnswerIsClassifiedByItsWordIfItHasNoStatus(t *testing.T) {
	for word, class := range map[string]fault.Class{"RESOURCE_EXHAUSTED": fault.RateLimited, "INTERNAL": fault.Degraded,
		"ABORTED":         fault.Transient,
		"UNAUTHENTICATED": fault.UserFixable, "INVALID_ARGUMENT": fault.Permanent} {
		_, err := provider.Generate(t.Context(), offline(t, []byte(`{"error":{"status":"`+word+`"}}`)), ask("hello"))
		require.Equal(t, class, fault.Of(err), word)
	}
}

func TestALongPageIsNotCutWithinACharacter(t *testing.T) {
	message := failed(t, 502, strings.Repeat("ä", 400)).Message
	require.Equal(t, strings.Repeat("ä", 150)+"…", message)
}

func TestANetworkErrorKeepsItsClass(t *testing.T) {
	m := connect(t, gemini.Config{APIKey: "k"}, roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, fault.New(fault.Degraded, "nobody there")
	}))
	_, err := provider.Generate(t.Context(), m, ask("hello"))
	require.Equal(t, fault.Degraded, fault.Of(err))
	_, err = provider.CountTokens(t.Context(), m, ask("hello"))
	require.Equal(t, fault.Degraded, fault.Of(err))
}

func TestACanceledCallGivesTheCause(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := connect(t, gemini.Config{APIKey: "k"}, roundTripper(func(req *http.Request) (*http.Response, error) {
		cancel(enough)
		return nil, req.Context().Err()
	}))
	_, err := provider.Generate(ctx, m, ask("hello"))
	require.ErrorIs(t, err, enough)
	require.True(t, provider.Canceled(err))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
