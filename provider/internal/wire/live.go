package wire

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/pawlkit/pawl/provider"
)

// Live makes one small call of a real provider, and skips the test if none of the environment
// variables has a key. Tests that call it have the build tag live.
func Live(t *testing.T, fresh func(client *http.Client) (provider.Provider, error), keys ...string) {
	t.Helper()
	set := false
	for _, key := range keys {
		set = set || os.Getenv(key) != ""
	}
	if !set {
		t.Skipf("wire: no key in %v", keys)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	m, err := fresh(&http.Client{Transport: transport, Timeout: 2 * timeout})
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	res, err := provider.Generate(t.Context(), m,
		&provider.Request{Messages: []provider.Message{provider.User("Answer with one word: yes.")}, MaxOutput: 1024})
	if err == nil && (!res.Complete || res.Text() == "" || res.Usage.Input == 0 || res.Usage.Output == 0) {
		err = errors.New("the answer has no text or no usage")
	}
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	t.Logf("%s: %q, %d + %d tokens", res.Model, res.Text(), res.Usage.Input, res.Usage.Output)
}
