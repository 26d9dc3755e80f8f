package gemini_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

const secret = "AIzaSecretSecret"

func TestASecretThatTheServerRepeatsIsRemovedFromErrors(t *testing.T) {
	told := `{"error":{"status":"t ` + secret + `","message":"m ` + secret + `","details":[{"reason":"c ` + secret +
		`"}]}}`
	for _, cfg := range []gemini.Config{
		{APIKey: secret},
		{Header: http.Header{"x-goog-api-key": {secret}}},
		{Header: http.Header{"Authorization": {"Bearer " + secret}}},
		{Header: http.Header{"X-Api-Key": {secret}}},
	} {
		for status, body := range map[int]string{400: told, 200: "data: " + told + "\n\n",
			502: strings.Repeat("x", 290) + " " + secret} {
			m := connect(t, cfg, &wire.Offline{Reply: wire.Always(status, body, "X-Request-Id", "r "+secret)})
			_, err := provider.Generate(t.Context(), m, ask("x"))
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, fmt.Sprintf("%+v %+v", err, *e), secret[:8])
			require.Contains(t, e.RequestID, "[redacted]")
		}
	}
}

func TestTheEnvironmentsKeyIsNotSentToOtherAddresses(t *testing.T) {
	const own = "https://generativelanguage.googleapis.com"
	for _, c := range []struct{ base, env, want string }{
		{"", "", secret}, {own, "", secret}, {own + "/v1", "", secret}, {"", "http://gateway", secret},
		{"http://gateway", "http://gateway", secret},
		{"http://elsewhere", "", ""}, {"http://elsewhere", "http://gateway", ""},
		{"http://generativelanguage.googleapis.com", "", ""},
		{own + ".elsewhere", "", ""}, {own + ":8443", "", ""},
	} {
		for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
			quiet(t)
			t.Setenv(name, secret)
			t.Setenv("GOOGLE_GEMINI_BASE_URL", c.env)
			tr := well()
			m, err := gemini.New(gemini.Config{BaseURL: c.base, HTTPClient: &http.Client{Transport: tr}})
			require.NoError(t, err)
			_, err = provider.Generate(t.Context(), m, ask("x"))
			require.NoError(t, err)
			require.Equal(t, c.want, tr.Asked[0].Header.Get("X-Goog-Api-Key"), "%+v", c)
		}
	}
}

func TestARedirectAwayFromTLSDoesNotGetTheKey(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(307, "", "Location", "http://gateway/v1beta")}
	_, err := provider.Generate(t.Context(), connect(t, gemini.Config{APIKey: secret, BaseURL: "https://gateway"}, tr),
		ask("x"))
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tr.Asked, 1)
}

func TestArgumentsThatComeWholeAndInPiecesAreMerged(t *testing.T) {
	for args, want := range map[string]string{
		`{"x":1}`: `{"x":1,"y":2}`, `{}`: `{"y":2}`, `null`: `{"y":2}`, `{"y":2}`: `{"y":2}`, `{"y":3}`: "", `[1]`: "",
	} {
		r, err := provider.Generate(t.Context(),
			offline(t, []byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":`+args+
				`,"partialArgs":[{"jsonPath":"$.y","numberValue":2}]}}]},"finishReason":"STOP"}]}`)), ask("x"))
		if want == "" {
			require.ErrorContains(t, err, "contradict")
			require.Equal(t, fault.Transient, fault.Of(err))
			continue
		}
		require.NoError(t, err)
		require.JSONEq(t, want, string(r.Calls()[0].Input))
	}
}

func TestCallsOfAnAnswerWithoutAFinishReasonAreNotRun(t *testing.T) {
	const one = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"x":1}}}]}}]}`
	for _, body := range []string{one, "[" + one + "]", "data: " + one + "\n\n"} {
		r, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
		require.ErrorIs(t, err, provider.ErrIncomplete)
		require.False(t, r.Complete)
	}
}
