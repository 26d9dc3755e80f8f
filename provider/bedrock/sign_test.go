package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func ask(model string) *provider.Request {
	return &provider.Request{Model: model, Messages: []provider.Message{provider.User("hello")}}
}

func TestRequestsAreSigned(t *testing.T) {
	for _, model := range []string{claude, nova} {
		r, _ := sent(t, bedrock.Config{Header: http.Header{"X-Team": {"a"}}}, ask(model))
		authorization := r.Header.Get("Authorization")
		require.Regexp(t,
			`^AWS4-HMAC-SHA256 Credential=AKIDOFTHETEST/\d{8}/us-east-1/bedrock/aws4_request, SignedHeaders=[a-z0-9;-]+, Signature=[0-9a-f]{64}$`, authorization)
		require.Contains(t, authorization, "x-team")
		require.Equal(t, theSession, r.Header.Get("X-Amz-Security-Token"))
	}
}

func TestAnAuthorizationOfTheUserReplacesTheSignature(t *testing.T) {
	never := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { panic("not asked") })
	r, _ := sent(t, bedrock.Config{Header: http.Header{"Authorization": {"Bearer key-of-bedrock"}}, Credentials: never},
		ask(claude))
	require.Equal(t, "Bearer key-of-bedrock", r.Header.Get("Authorization"))
	require.Empty(t, r.Header.Get("X-Amz-Security-Token"))
}

// TestNoSecretIsInAnError has a server that repeats each secret of the request in each place.
func TestNoSecretIsInAnError(t *testing.T) {
	answers := map[string]func(secret string) *http.Response{
		"message": func(s string) *http.Response {
			return wire.Reply(403,
				strings.NewReader(`{"message":"The Canonical String is 'x-amz-security-token:`+s+`'"}`),
				"X-Amzn-Errortype", "InvalidSignatureException:")
		},
		"exception": func(s string) *http.Response {
			return wire.Reply(400, strings.NewReader("no"), "X-Amzn-Errortype", s)
		},
		"id": func(s string) *http.Response { return wire.Reply(500, strings.NewReader("no"), "X-Amzn-Requestid", s) },
		"long text": func(s string) *http.Response {
			return wire.Reply(502, strings.NewReader(strings.Repeat("x", 290)+s))
		},
		"plain answer": func(s string) *http.Response { return wire.Reply(200, strings.NewReader(s)) },
		"page":         func(s string) *http.Response { return wire.Reply(200, strings.NewReader("<html>"+s)) },
		"JSON": func(s string) *http.Response {
			return wire.Reply(200, strings.NewReader(`{"message":"`+s+`"}`))
		},
		"event": func(s string) *http.Response { return wire.Reply(200, strings.NewReader(event("chunk", s))) },
		"event's message": func(s string) *http.Response {
			return wire.Reply(200, strings.NewReader(exception("validationException", `{"message":"`+s+`"}`)))
		},
		"event's text": func(s string) *http.Response {
			return wire.Reply(200, strings.NewReader(exception("validationException", strings.Repeat("x", 290)+s)))
		},
		"event's type": func(s string) *http.Response { return wire.Reply(200, strings.NewReader(exception(s, `{}`))) },
		"error": func(s string) *http.Response {
			return wire.Reply(200,
				strings.NewReader(frame("", ":message-type", "error", ":error-code", s, ":error-message", s)))
		},
	}
	for name, answer := range answers {
		for _, model := range []string{claude, nova} {
			for header, cut := range map[string]func(string) string{
				"X-Amz-Security-Token": func(s string) string { return s },
				"Authorization":        func(s string) string { return s },
				"authorization": func(s string) string {
					return s[strings.Index(s, "Signature=")+len("Signature="):]
				},
			} {
				var secret string
				tr := &wire.Offline{Reply: func(r *http.Request) *http.Response {
					secret = cut(r.Header.Get(header))
					return answer(secret)
				}}
				m, err := bedrock.New(t.Context(), bedrock.Config{Model: model, Region: "us-east-1",
					Credentials: credentials(), HTTPClient: &http.Client{Transport: tr}})
				require.NoError(t, err)
				_, err = provider.Generate(t.Context(), m, ask(model))
				require.Error(t, err, name)
				text := fmt.Sprintf("%+v %#v", err, err)
				var e *provider.Error
				if errors.As(err, &e) {
					text += fmt.Sprintf("%+v %q", *e, e.Err)
					require.Equal(t, bedrock.Name, e.Provider, name)
				}
				require.NotContains(t, text, secret[:8]+secret[8:12], name)
			}
		}
	}
}

func TestExceptionsHaveClasses(t *testing.T) {
	for kind, want := range map[string]struct {
		status  int
		class   fault.Class
		remedy  string
		problem string
	}{
		"throttlingException":         {429, fault.RateLimited, "", provider.ProblemRate},
		"modelStreamErrorException":   {424, fault.Transient, "", provider.ProblemServer},
		"modelTimeoutException":       {408, fault.Transient, "", provider.ProblemTimeout},
		"internalServerException":     {500, fault.Degraded, "", provider.ProblemServer},
		"serviceUnavailableException": {503, fault.Degraded, "", provider.ProblemServer},
		"validationException":         {400, fault.Permanent, "", provider.ProblemRequest},
		"accessDeniedException":       {403, fault.UserFixable, "InvokeModel", provider.ProblemDenied},
		"expiredTokenException":       {403, fault.UserFixable, "aws sso login", provider.ProblemKey},
		"resourceNotFoundException":   {404, fault.UserFixable, "inference profile", provider.ProblemModel},
	} {
		upper := strings.ToUpper(kind[:1]) + kind[1:]
		for _, model := range []string{claude, nova} {
			for _, reply := range []func(*http.Request) *http.Response{
				wire.Always(want.status, `{"message":"it says so"}`, "X-Amzn-Errortype",
					upper+":http://internal.amazon.com/", "X-Amzn-Requestid", "id-1"),
				wire.Always(200, exception(kind, `{"message":"it says so"}`), "X-Amzn-Requestid", "id-1"),
			} {
				m, err := bedrock.New(t.Context(),
					bedrock.Config{Model: model, Region: "us-east-1", Credentials: credentials(),
						HTTPClient: &http.Client{Transport: &wire.Offline{Reply: reply}}})
				require.NoError(t, err)
				_, err = provider.Generate(t.Context(), m, ask(""))
				var e *provider.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, want.class, e.Class, kind)
				require.Equal(t, []string{upper, "it says so", "id-1", model},
					[]string{e.Type, e.Message, e.RequestID, e.Model})
				require.Contains(t, e.Remedy, want.remedy)
				require.Equal(t, want.remedy == "", e.Remedy == "")
				require.Equal(t, want.problem, provider.ProblemOf(err).Kind, kind)
			}
		}
	}
}

func TestATooLongRequestIsRecognized(t *testing.T) {
	m, err := bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1", Credentials: credentials(),
		HTTPClient: &http.Client{Transport: &wire.Offline{
			Reply: wire.Always(400, `{"message":"Input is too long for requested model."}`, "X-Amzn-Errortype",
				"ValidationException")}}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, ask(""))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.NotNil(t, e.ContextLength)
	require.Equal(t, fault.UserFixable, e.Class)
}

func TestCredentialsThatDoNotComeAreAnError(t *testing.T) {
	for want, told := range map[fault.Class]error{
		fault.UserFixable: errors.New("the command printed " + theSecret),
		fault.Degraded:    fault.New(fault.Degraded, "down, "+theSecret),
	} {
		tr := &wire.Offline{Reply: wire.Always(500, "no")}
		m, err := bedrock.New(t.Context(),
			bedrock.Config{Model: nova, Region: "us-east-1", HTTPClient: &http.Client{Transport: tr},
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{}, told
				})})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, ask(""))
		require.Equal(t, want, fault.Of(err))
		require.NotContains(t, fmt.Sprintf("%+v %#v", err, err), theSecret)
		require.Empty(t, tr.Asked)
	}
}

// TestTheSignatureIsOfWhatIsSent has a server sign the request again as it came over the network.
func TestTheSignatureIsOfWhatIsSent(t *testing.T) {
	var sent, again string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		_, names, _ := strings.Cut(sent, "SignedHeaders=")
		names, _, _ = strings.Cut(names, ",")
		body, _ := io.ReadAll(r.Body)
		copied, err := http.NewRequest(r.Method, "http://"+r.Host+r.RequestURI, bytes.NewReader(body))
		if err != nil {
			again = err.Error()
			return
		}
		for _, name := range strings.Split(names, ";") {
			if value := r.Header.Get(name); value != "" && !strings.HasPrefix(name, "x-amz-") &&
				name != "content-length" {
				copied.Header.Set(name, value)
			}
		}
		at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		c, _ := credentials().Retrieve(r.Context())
		sum := sha256.Sum256(body)
		err = v4.NewSigner().SignHTTP(r.Context(), c, copied, hex.EncodeToString(sum[:]), "bedrock", "us-east-1", at)
		if again = copied.Header.Get("Authorization"); err != nil {
			again = err.Error()
		}
	}))
	defer server.Close()
	for _, model := range []string{claude, nova,
		"arn:aws:bedrock:us-east-1:000000000000:application-inference-profile/a1"} {
		m, err := bedrock.New(t.Context(),
			bedrock.Config{Model: model, Region: "us-east-1", Credentials: credentials(), BaseURL: server.URL,
				HTTPClient: server.Client(), Header: http.Header{"X-Team": {"a  b"}}})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, ask(""))
		require.Error(t, err)
		require.NotEmpty(t, sent)
		require.Equal(t, sent, again)
	}
}
