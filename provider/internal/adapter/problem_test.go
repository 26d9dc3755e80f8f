package adapter_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/stream"
)

// said are the words for each kind of failure, as people read them.
var said = map[string]string{
	provider.ProblemNoKey: "There is no key for NAME. Set KEY, and start the program again.",
	provider.ProblemKey: "NAME doesn't accept the key. Set KEY to a valid key, and start the program again. " +
		"Keys are at KEYS.",
	provider.ProblemDenied: "NAME doesn't let this key use the model “nine”. Use another key (KEY) or another model " +
		"(MODEL), or have the owner of the account allow it.",
	provider.ProblemModel: "NAME doesn't know the model “nine”, or the key may not use it. Set MODEL to the name of a " +
		"model that it offers, and start the program again.",
	provider.ProblemAddress: "The server at this address isn't the API of NAME. Correct ADDRESS, and start the program again.",
	provider.ProblemQuota: "The account with NAME has no credit or no quota left. Look at its plan and its billing: " +
		"BILLING.",
	provider.ProblemRate: "NAME gets too many requests now. Wait WAIT, and try again. If that doesn't help, use " +
		"another model (MODEL).",
	provider.ProblemNetwork: "NAME can't be reached. Check the network of this machine, its proxy (HTTPS_PROXY), and " +
		"ADDRESS, and try again.",
	provider.ProblemLength: "The conversation is too long for the model “nine”. Start a new one, or use a model that " +
		"takes more (MODEL).",
	provider.ProblemRefused: "NAME refuses this content. Put it in other words, or start a new conversation.",
	provider.ProblemTimeout: "NAME didn't answer in time. Try again; if it happens often, use another model (MODEL).",
	provider.ProblemCut:     "The answer of NAME broke off. Try again.",
	provider.ProblemServer:  "NAME has a technical problem. Wait WAIT, and try again.",
	provider.ProblemRequest: "NAME doesn't accept the request. Use another model (MODEL).",
}

// An answered is what a server answers, and the kind that it is.
type answered struct {
	status int
	body   string
	kind   string
	wait   string
}

// A maker makes the provider of a table; an address other than its own is on loopback.
type maker struct {
	names   string // pairs that replace the words in capitals
	model   func(at, key string, client *http.Client) (provider.Provider, error)
	answers []answered
}

const (
	leaked  = "sk-secret-0123456789"
	written = "THE SERVER'S WORDS"
	minute  = "a minute"
	twenty  = "20 seconds"
)

var makers = map[string]maker{
	"anthropic": {
		names: "NAME|Anthropic|KEYS|https://platform.claude.com/settings/keys|KEY|ANTHROPIC_API_KEY|" +
			"MODEL|ANTHROPIC_MODEL|ADDRESS|ANTHROPIC_BASE_URL|BILLING|https://platform.claude.com/settings/billing",
		model: func(at, key string, client *http.Client) (provider.Provider, error) {
			return anthropic.New(anthropic.Config{Model: "nine", BaseURL: at, APIKey: key, HTTPClient: client})
		},
		answers: []answered{
			{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key. THE SERVER'S WORDS"},` +
				`"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`, provider.ProblemKey, ""},
			{403, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission ` +
				`to use the specified resource. THE SERVER'S WORDS"}}`, provider.ProblemDenied, ""},
			{404, `{"type":"error","error":{"type":"not_found_error","message":"model: nine"}}`, provider.ProblemModel, ""},
			{404, `{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}`, provider.ProblemAddress, ""},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to ` +
				`access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`,
				provider.ProblemQuota, ""},
			{429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate ` +
				`limit for your organization of 30,000 input tokens per minute."}}`, provider.ProblemRate, twenty},
			{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.ProblemRate, twenty},
			{200, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"," +
				"\"message\":\"Overloaded\"}}\n\n", provider.ProblemRate, minute},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > ` +
				`200000 maximum"}}`, provider.ProblemLength, ""},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering ` +
				`policy"}}`, provider.ProblemRefused, ""},
			{500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`,
				provider.ProblemServer, twenty},
			{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
				provider.ProblemLength, ""},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: must be at least 1"}}`,
				provider.ProblemRequest, ""},
			{200, "<html>Sign in to the hotel's network</html>", provider.ProblemAddress, ""},
		},
	},
	"openai": {
		names: "NAME|OpenAI|KEYS|https://platform.openai.com/api-keys|KEY|OPENAI_API_KEY|MODEL|OPENAI_MODEL|" +
			"ADDRESS|OPENAI_BASE_URL|BILLING|https://platform.openai.com/settings/organization/billing",
		model: func(at, key string, client *http.Client) (provider.Provider, error) {
			return openai.New(openai.Config{Model: "nine", BaseURL: at, APIKey: key, HTTPClient: client,
				Name: "openai"})
		},
		answers: []answered{
			{401, `{"error":{"message":"Incorrect API key provided: sk-se**6789. You can find your API key at ` +
				`https://platform.openai.com/account/api-keys. THE SERVER'S WORDS","type":"invalid_request_error",` +
				`"param":null,"code":"invalid_api_key"}}`, provider.ProblemKey, ""},
			{403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not ` +
				`supported","param":null,"type":"request_forbidden"}}`, provider.ProblemDenied, ""},
			{404, "{\"error\":{\"message\":\"The model `nine` does not exist or you do not have access to it.\"," +
				`"type":"invalid_request_error","param":null,"code":"model_not_found"}}`, provider.ProblemModel, ""},
			{400, `{"error":{"message":"nine is not a valid model ID","code":400}}`, provider.ProblemModel, ""},
			{404, `404 page not found`, provider.ProblemAddress, ""},
			{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details. For ` +
				`more information on this error, read the docs.","type":"insufficient_quota","param":null,` +
				`"code":"insufficient_quota"}}`, provider.ProblemQuota, ""},
			{402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`,
				provider.ProblemQuota, ""},
			{429, `{"error":{"message":"Rate limit reached for nine in organization org-x on tokens per min (TPM): Limit ` +
				`30000, Used 29000, Requested 2000.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
				provider.ProblemRate, twenty},
			{503, `{"error":{"message":"The engine is currently overloaded, please try again later",` +
				`"type":"server_error"}}`, provider.ProblemRate, twenty},
			{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages ` +
				`resulted in 140000 tokens.","type":"invalid_request_error","param":"messages",` +
				`"code":"context_length_exceeded"}}`, provider.ProblemLength, ""},
			{400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage ` +
				`policy.","type":"invalid_request_error","code":"invalid_prompt"}}`, provider.ProblemRefused, ""},
			{500, `{"error":{"message":"The server had an error while processing your request. THE SERVER'S WORDS",` +
				`"type":"server_error"}}`, provider.ProblemServer, twenty},
			{503, `{"error":{"message":"The model nine is currently not available, try again later",` +
				`"type":"server_error"}}`, provider.ProblemServer, twenty},
			{404, `{"error":{"message":"No endpoints found for nine:free.","code":404}}`, provider.ProblemModel, ""},
			{504, `upstream request timeout`, provider.ProblemTimeout, ""},
			{200, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n",
				provider.ProblemCut, ""},
			{400, `{"error":{"message":"Unsupported parameter: 'top_k'","type":"invalid_request_error"}}`,
				provider.ProblemRequest, ""},
		},
	},
	"gemini": {
		names: "NAME|Gemini|KEYS|https://aistudio.google.com/apikey|KEY|GEMINI_API_KEY|MODEL|GEMINI_MODEL|" +
			"ADDRESS|GOOGLE_GEMINI_BASE_URL|BILLING|https://aistudio.google.com/usage",
		model: func(at, key string, client *http.Client) (provider.Provider, error) {
			return gemini.New(gemini.Config{Model: "nine", BaseURL: at, APIKey: key, HTTPClient: client})
		},
		answers: []answered{
			{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":` +
				`"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":` +
				`"API_KEY_INVALID","domain":"googleapis.com"}]}}`, provider.ProblemKey, ""},
			{403, `{"error":{"code":403,"message":"Generative Language API has not been used in project 123 before or ` +
				`it is disabled.","status":"PERMISSION_DENIED"}}`, provider.ProblemDenied, ""},
			{400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":` +
				`"FAILED_PRECONDITION"}}`, provider.ProblemDenied, ""},
			{404, `{"error":{"code":404,"message":"models/nine is not found for API version v1beta, or is not supported ` +
				`for generateContent. Call ListModels to see the list of available models and their supported methods.",` +
				`"status":"NOT_FOUND"}}`, provider.ProblemModel, ""},
			{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing ` +
				`details. * Quota exceeded for metric: generate_content_free_tier_requests, limit: 0","status":` +
				`"RESOURCE_EXHAUSTED"}}`, provider.ProblemQuota, ""},
			{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing ` +
				`details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo",` +
				`"retryDelay":"20s"}]}}`, provider.ProblemRate, twenty},
			{503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":` +
				`"UNAVAILABLE"}}`, provider.ProblemRate, twenty},
			{400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens ` +
				`allowed (1048576).","status":"INVALID_ARGUMENT"}}`, provider.ProblemLength, ""},
			{500, `{"error":{"code":500,"message":"An internal error has occurred. THE SERVER'S WORDS","status":` +
				`"INTERNAL"}}`, provider.ProblemServer, twenty},
			{400, `{"error":{"code":400,"message":"Invalid value at 'contents'","status":"INVALID_ARGUMENT"}}`,
				provider.ProblemRequest, ""},
		},
	},
}

// words are what people read of a failed call of the provider.
func words(t *testing.T, m maker, at string, client *http.Client) (kind, text string) {
	p, err := m.model(at, leaked, client)
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), p, &provider.Request{Messages: []provider.Message{provider.User("Hi")}})
	require.Error(t, err)
	problem := provider.ProblemOf(err)
	require.NotNil(t, problem, "%v", err)
	return problem.Kind, problem.Words()
}

func (m maker) says(kind, wait string) string {
	return strings.NewReplacer(append(strings.Split(m.names, "|"), "WAIT", wait)...).Replace(said[kind])
}

// What a server writes only chooses the words.
func TestEachFailureIsSaidInWordsThatNameWhatAPersonCanChange(t *testing.T) {
	for name, m := range makers {
		for _, c := range m.answers {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.wait == twenty {
					w.Header().Set("Retry-After", "20")
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			kind, text := words(t, m, server.URL, server.Client())
			server.Close()
			require.Equal(t, c.kind, kind, "%s: %d %s", name, c.status, c.body)
			require.Equal(t, m.says(c.kind, c.wait), text, "%s: %d %s", name, c.status, c.body)
			require.NotContains(t, text, written)
			require.NotContains(t, text, "Config")
		}
	}
}

func TestAProviderThatCannotBeReachedIsSaidInWords(t *testing.T) {
	refuses := func(err error) *http.Client {
		dial := func(context.Context, string, string) (net.Conn, error) { return nil, err }
		return &http.Client{Transport: &http.Transport{DialContext: dial}}
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	redirects := httptest.NewServer(http.RedirectHandler("https://elsewhere.test/login", http.StatusFound))
	defer redirects.Close()
	for name, m := range makers {
		for what, c := range map[string]struct {
			at     string
			client *http.Client
			kind   string
		}{
			"refused": {gone.URL, nil, provider.ProblemNetwork},
			"name": {"https://nowhere.test", refuses(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host",
				Name: "nowhere.test", IsNotFound: true}}), provider.ProblemNetwork},
			"certificate": {secure.URL, &http.Client{Transport: &http.Transport{}}, provider.ProblemNetwork},
			"not TLS": {"https" + strings.TrimPrefix(plain.URL, "http"), &http.Client{Transport: &http.Transport{}},
				provider.ProblemNetwork},
			"redirect": {redirects.URL, nil, provider.ProblemAddress},
		} {
			kind, text := words(t, m, c.at, c.client)
			require.Equal(t, c.kind, kind, "%s: %s", name, what)
			require.Equal(t, m.says(c.kind, ""), text, "%s: %s", name, what)
		}
	}
}

func TestAMissingKeyIsSaidInWords(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "")
	}
	for _, m := range makers {
		_, err := m.model("", "", nil)
		require.Error(t, err)
		require.Equal(t, m.says(provider.ProblemNoKey, ""), provider.ProblemOf(err).Words())
	}
}

func TestWordsOfFailuresThatNoProviderHasReported(t *testing.T) {
	twice := func(first, second error) error { return &several{[]error{first, second}} }
	down := &provider.Error{Class: fault.Degraded, Provider: "anthropic", Status: 500}
	refused := &provider.Error{Class: fault.UserFixable, Provider: "api.groq.com", Status: 401, Model: "nine"}
	wait := 90 * time.Minute
	for _, c := range []struct {
		err  error
		want string
	}{
		{&stream.TimeoutError{Kind: stream.TimeoutFirst, After: time.Minute}, "The provider of the model didn't answer in " +
			"time. Try again; if it happens often, use another model."},
		{provider.ErrIncomplete, "The answer of the provider of the model broke off. Try again."},
		{fault.New(fault.Degraded, "the breaker is open"), "The provider of the model has a technical problem. Wait a minute, " +
			"and try again."},
		{twice(down, refused), "Groq doesn't accept the key. Set GROQ_API_KEY to a valid key, and start the program " +
			"again. Keys are at https://console.groq.com/keys."},
		{twice(down, fault.New(fault.Transient, "lost")), "Anthropic has a technical problem. Wait a minute, and try again."},
		{&provider.Error{Class: fault.RateLimited, Provider: "our model", Status: 429, Wait: &wait},
			"Our model gets too many requests now. Wait 90 minutes, and try again. If that doesn't help, use another model."},
		{&provider.Error{Class: fault.UserFixable, Provider: "127.0.0.1", Status: 401},
			"127.0.0.1 doesn't accept the key. Set OPENAI_API_KEY to a valid key, and start the program again."},
		{&provider.Error{Class: fault.UserFixable, Provider: "ours", Status: 401}, "Ours doesn't accept the key. Set the key " +
			"of the program to a valid key, and start the program again."},
		{nil, ""},
		{context.Canceled, ""},
		{fault.New(fault.Permanent, "a bug of the host's"), ""},
		{&provider.Error{Class: fault.Transient, Provider: "openai", Message: "no API key: the store is away"}, ""},
	} {
		require.Equal(t, c.want, provider.ProblemOf(c.err).Words(), "%v", c.err)
	}
	require.Empty(t, (&provider.Problem{Kind: "of a later version"}).Words())
}

// several are the errors of several providers.
type several struct{ errs []error }

func (e *several) Error() string   { return "none has answered" }
func (e *several) Unwrap() []error { return e.errs }
