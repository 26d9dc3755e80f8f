package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func hi() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("Hi")}}
}

func TestErrorsHaveTheClassAndTheWordsOfTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  fault.Class
		words  string // type, code and message
	}{
		"rate limit": {429,
			`{"error":{"message":"Slow down.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			fault.RateLimited, "tokens|rate_limit_exceeded|Slow down."},
		"quota": {429,
			`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, fault.UserFixable, "insufficient_quota|insufficient_quota|You exceeded your current quota, please check your plan and billing details."},
		"rate, billing": {429,
			`{"error":{"message":"Rate limit reached. Visit your billing page.","code":"rate_limit_exceeded"}}`,
			fault.RateLimited, "|rate_limit_exceeded|Rate limit reached. Visit your billing page."},
		"context": {400,
			`{"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, fault.UserFixable, "invalid_request_error|context_length_exceeded|Too long."},
		"model": {404,
			`{"error":{"message":"No such model.","type":"invalid_request_error","code":"model_not_found"}}`,
			fault.Permanent, "invalid_request_error|model_not_found|No such model."},
		"key": {401,
			`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`, fault.UserFixable, "invalid_request_error|invalid_api_key|Incorrect API key provided."},
		"key with 400": {400, `{"code":"invalid-argument","error":"Incorrect API key provided."}`, fault.UserFixable,
			"|invalid-argument|Incorrect API key provided."},
		"region": {403, `{"error":{"message":"Not here.","code":"unsupported_country_region_territory"}}`,
			fault.UserFixable, "|unsupported_country_region_territory|Not here."},
		"credit": {402, `{"error":{"message":"Insufficient credits.","code":402}}`, fault.UserFixable,
			"|402|Insufficient credits."},
		"timeout": {408, ``, fault.Transient, "||Request Timeout"},
		"server": {500, `{"error":{"message":"Sorry.","type":"server_error","param":null,"code":null}}`,
			fault.Degraded, "server_error||Sorry."},
		"overloaded": {529, `{"error":{"message":"Busy.","type":"overloaded_error"}}`, fault.Degraded,
			"overloaded_error||Busy."},
		"a page": {502, `<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>`,
			fault.Degraded, "||502 Bad Gateway"},
		"a page, bare": {503, `<html></html>`, fault.Degraded, "||Service Unavailable"},
		"a text":       {503, "upstream\n connect error", fault.Degraded, "||upstream connect error"},
		"detail":       {401, `{"detail":"Invalid API Key"}`, fault.UserFixable, "||Invalid API Key"},
		"a list": {422, `{"detail":[{"loc":["body","stop"],"msg":"bad","message":"stop is too long"}]}`,
			fault.Permanent, "||stop is too long"},
		"Google's list": {400, `[{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT"}}]`, fault.Permanent,
			"|400|Bad."},
		"flat": {429,
			`{"object":"error","message":"Requests rate limit exceeded","type":"rate_limited","code":"1300"}`,
			fault.RateLimited, "rate_limited|1300|Requests rate limit exceeded"},
		"from upstream": {429,
			`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"busy upstream","provider_name":"X"}}}`, fault.RateLimited, "|429|Provider returned error (busy upstream)"},
		"nothing":    {500, ``, fault.Degraded, "||Internal Server Error"},
		"a redirect": {304, ``, fault.UserFixable, "||the address redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &canned{status: c.status, body: c.body, header: http.Header{"X-Request-Id": {"req_1"}}}
			_, err := provider.Generate(t.Context(), server.model(t, Config{}), hi())
			require.Equal(t, c.class, fault.Of(err))
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.words, e.Type+"|"+e.Code+"|"+e.Message)
			require.Equal(t, c.status, e.Status)
			require.Equal(t, "req_1", e.RequestID)
			require.Equal(t, "openai", e.Provider)
			require.Equal(t, "test-model", e.Model)
			require.Len(t, server.asked, 1, "the SDK tries nothing again")
			remedy, has := fault.Remedy(err)
			require.Equal(t, c.class == fault.UserFixable, has)
			require.Equal(t, e.Remedy, remedy)
		})
	}
}

func TestTheRemedyFitsTheError(t *testing.T) {
	for says, c := range map[string]struct {
		base   string
		status int
		body   string
	}{
		"set OPENAI_API_KEY": {"", 401, `{}`},
		"set GROQ_API_KEY":   {"https://api.groq.com/openai/v1", 401, `{}`},
		"set Config.APIKey":  {"http://localhost:1", 401, `{}`},
		"https://platform.openai.com/settings/organization/billing": {"", 429,
			`{"error":{"code":"insufficient_quota","message":"x"}}`},
		"payment details of the account with api.x.ai": {"https://api.x.ai/v1", 402, `{}`},
		"use a key that may call this model":           {"", 403, `{"error":{"message":"Not allowed."}}`},
	} {
		server := &canned{status: c.status, body: c.body}
		_, err := provider.Generate(t.Context(), server.model(t, Config{BaseURL: c.base}), hi())
		require.ErrorContains(t, err, says)
	}
}

func TestAdviceToWaitIsReadInAllThreeForms(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for name, c := range map[string]struct {
		header http.Header
		least  time.Duration
		most   time.Duration
	}{
		"seconds": {http.Header{"Retry-After": {"7"}}, 7 * time.Second, 7 * time.Second},
		"milliseconds": {http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"7"}}, 1500 * time.Millisecond,
			1500 * time.Millisecond},
		"a date":   {http.Header{"Retry-After": {at}}, 59 * time.Minute, time.Hour},
		"none":     {http.Header{}, 0, 0},
		"zero":     {http.Header{"Retry-After": {"0"}}, 0, 0},
		"negative": {http.Header{"Retry-After": {"-3"}}, 0, 0},
	} {
		server := &canned{status: 429, body: `{}`, header: c.header}
		_, err := provider.Generate(t.Context(), server.model(t, Config{}), hi())
		wait, told := fault.RetryAfter(err)
		require.Equal(t, c.most > 0, told, name)
		require.GreaterOrEqual(t, wait, c.least, name)
		require.LessOrEqual(t, wait, c.most, name)
	}
}

// failing is a transport that reaches no server.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestAnUnreachableServerIsAnError(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	m, err := New(Config{Model: "m", APIKey: "k", BaseURL: "http://localhost:1/v1?token=hush",
		HTTPClient: &http.Client{Transport: failing{refused}}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.ErrorIs(t, err, refused)
	require.Equal(t, fault.Of(refused), fault.Of(err))
	require.NotContains(t, err.Error(), "hush")
}

const key = "sk-proj-Zq8VeryLongAndSecret"

func TestKeysAreNeverPrinted(t *testing.T) {
	server := &canned{status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + key + `."}}`}
	cfg := Config{APIKey: key, Header: http.Header{"X-Secret": {key}}, BaseURL: "http://example.com/v1?key=" + key}
	m := server.model(t, cfg)
	_, failed := provider.Generate(t.Context(), m, hi())
	require.Equal(t, "Bearer "+key, server.asked[0].Header.Get("Authorization"))
	byFunc := server.model(t, Config{Key: func(context.Context) (string, error) { return key, nil }})
	_, failed2 := provider.Generate(t.Context(), byFunc, hi())
	asJSON, err := json.Marshal(cfg)
	require.NoError(t, err)
	printed := string(asJSON)
	var e *provider.Error
	require.ErrorAs(t, failed, &e)
	for _, v := range []any{cfg, &cfg, m, *m, failed, failed2, e.Err, *e} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			printed += fmt.Sprintf(verb, v) + "\n"
		}
	}
	require.False(t, strings.Contains(printed, key), "the key was printed")
	require.False(t, strings.Contains(strings.ToLower(printed), fmt.Sprintf("%x", key)),
		"the key was printed in hexadecimal")
	require.Contains(t, failed.Error(), "[redacted]")
	require.Contains(t, failed2.Error(), "[redacted]")
}

func TestAMissingKeyIsAnErrorOfNew(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, "")
	}
	_, err := New(Config{})
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.ErrorContains(t, err, "set OPENAI_API_KEY")
	_, err = New(Config{BaseURL: "https://openrouter.ai/api/v1"})
	require.ErrorContains(t, err, "set OPENROUTER_API_KEY")

	server := &canned{}
	empty := server.model(t, Config{Key: func(context.Context) (string, error) { return "", nil }})
	_, err = provider.Generate(t.Context(), empty, hi())
	require.Equal(t, fault.UserFixable, fault.Of(err))
	broken := server.model(t,
		Config{Key: func(context.Context) (string, error) { return "", errors.New("vault sealed") }})
	_, err = provider.Generate(t.Context(), broken, hi())
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.ErrorContains(t, err, "vault sealed")
	away := server.model(t,
		Config{Key: func(context.Context) (string, error) { return "", fault.New(fault.Transient, "vault is busy") }})
	_, err = provider.Generate(t.Context(), away, hi())
	require.Equal(t, fault.Transient, fault.Of(err))
	require.Empty(t, server.asked)
}

func TestTheKeyOfTheEnvironmentGoesOnlyWhereItBelongs(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "openai-key")
	t.Setenv("GROQ_API_KEY", "groq-key")
	t.Setenv("AZURE_OPENAI_API_KEY", "azure-key")
	t.Setenv("OPENAI_ORG_ID", "org-1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Hush: hush")
	t.Setenv("OPENAI_BASE_URL", "")
	asked := func(base string) http.Header {
		server := &canned{status: 500}
		m, err := New(Config{Model: "m", BaseURL: base, HTTPClient: &http.Client{Transport: server}})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, hi())
		require.Error(t, err)
		require.Empty(t, server.asked[0].Header.Get("X-Hush"))
		return server.asked[0].Header
	}
	own := asked("")
	require.Equal(t, "Bearer openai-key", own.Get("Authorization"))
	require.Equal(t, "org-1", own.Get("Openai-Organization"))
	require.Equal(t, "Bearer groq-key", asked("https://api.groq.com/openai/v1").Get("Authorization"))
	azure := asked("https://x.openai.azure.com/openai/v1")
	require.Equal(t, "azure-key", azure.Get("Api-Key"))
	local := asked("http://localhost:1234/v1")
	require.Empty(t, local.Get("Authorization"))
	require.Empty(t, local.Get("Openai-Organization"))
	t.Setenv("OPENAI_BASE_URL", "http://localhost:1234/v1")
	require.Equal(t, "Bearer openai-key", asked("").Get("Authorization"))
}

func TestTheKeyIsRequestedOnceMoreAfterARejection(t *testing.T) {
	for _, answers := range [][]int{{401, 200}, {401, 401}, {500}} {
		n, keys := 0, 0
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			require.Equal(t, fmt.Sprintf("Bearer key-%d", keys), req.Header.Get("Authorization"))
			status := answers[n]
			n++
			return &http.Response{StatusCode: status, Header: http.Header{}, Request: req,
				Body: io.NopCloser(strings.NewReader(`{"id":"1","model":"m","status":"completed"}`))}, nil
		})
		m, err := New(Config{Model: "m", HTTPClient: &http.Client{Transport: transport},
			Key: func(context.Context) (string, error) {
				keys++
				return fmt.Sprintf("key-%d", keys), nil
			}})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, hi())
		require.Equal(t, answers[len(answers)-1] == 200, err == nil)
		require.Equal(t, len(answers), n)
		require.Equal(t, n, keys)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestACanceledKeyFunctionEndsTheCallWithClassNone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := (&canned{}).model(t, Config{Key: func(ctx context.Context) (string, error) {
		cancel()
		return "", ctx.Err()
	}})
	_, err := provider.Generate(ctx, m, hi())
	require.True(t, provider.Canceled(err))
}
