package langchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// theKey has no form that tells it from an ordinary word.
const theKey = "the-odd-key-of-somebody"

// calls makes a call of langchaingo's openai model to a server.
func calls(t *testing.T, url string, streaming bool) error {
	t.Helper()
	llm, err := openai.New(openai.WithToken(theKey), openai.WithModel("m"), openai.WithBaseURL(url),
		openai.WithHTTPClient(HTTPClient(nil)))
	require.NoError(t, err)
	p, err := New(llm, Config{Model: "m"})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), p,
		&provider.Request{Messages: []provider.Message{provider.User("the prompt")}, NoRestart: !streaming})
	return err
}

// printed returns everything that can be printed of an error and of the errors that it wraps.
func printed(err error) string {
	out := ""
	for ; err != nil; err = errors.Unwrap(err) {
		raw, _ := json.Marshal(err)
		out += fmt.Sprintf("%v %+v %#v %s\n", err, err, err, raw)
	}
	return out
}

func TestNoErrorOfALangchaingoModelContainsItsKey(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	for name, answer := range map[string]http.HandlerFunc{
		"message": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"%s is no key of ours"}}`, r.Header.Get("Authorization"))
		},
		"key alone": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"no: %s"}}`, theKey)
		},
		"body of no JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, theKey) },
		"address": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:0/"+theKey, http.StatusSeeOther)
		},
	} {
		server := httptest.NewServer(answer)
		for _, streaming := range []bool{false, true} {
			err := calls(t, server.URL, streaming)
			require.Error(t, err, name)
			require.NotContains(t, printed(err), "odd-key", name)
		}
		server.Close()
	}
}

func TestThePromptIsNotSentToAnotherHost(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		for _, streaming := range []bool{false, true} {
			err := calls(t, server.URL, streaming)
			require.Equal(t, fault.UserFixable, fault.Of(err), "%v", err)
			remedy, _ := fault.Remedy(err)
			require.Contains(t, remedy, "address")
		}
		llm, err := ollama.New(ollama.WithServerURL(server.URL), ollama.WithModel("m"),
			ollama.WithHTTPClient(HTTPClient(nil)))
		require.NoError(t, err)
		p, err := New(llm, Config{Model: "m"})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), p,
			&provider.Request{Messages: []provider.Message{provider.User("the prompt")}})
		require.ErrorIs(t, err, provider.ErrIncomplete, "it doesn't report the status")
		server.Close()
	}
	require.Zero(t, reached)
}

func TestAnIncompleteAnswersErrorContainsNoSecret(t *testing.T) {
	err := fmt.Errorf("%w: asked with Bearer %s", provider.ErrIncomplete, theKey)
	_, err = provider.Generate(t.Context(), over(t, &fakeModel{err: err}, Config{}), question())
	require.ErrorIs(t, err, provider.ErrIncomplete)
	require.Equal(t, fault.Transient, fault.Of(err))
	require.NotContains(t, printed(err), theKey)
}
