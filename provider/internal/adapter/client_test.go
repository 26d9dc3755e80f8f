package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// serve starts a server and returns its address.
func serve(t testing.TB, h http.HandlerFunc) *url.URL {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	return u
}

// newClient returns a client of a server whose errors are plain text.
func newClient(base *url.URL, key adapter.Key, host http.Header) *adapter.Client {
	return adapter.NewClient(adapter.ClientConfig{
		Name: "acme", Base: base, Key: key, Host: host, Header: http.Header{"X-Version": {"1"}},
		Authorize: func(h http.Header, key string) { h.Set("X-Key", key) },
		Decode: func(status int, body []byte) *provider.Error {
			return &provider.Error{Class: fault.FromStatus(status), Status: status, Message: string(body)}
		},
	})
}

// numbered returns a Key that is another one each time.
func numbered() adapter.Key {
	var n atomic.Int32
	return adapter.Asked("acme", true, adapter.ReturnKey, func(context.Context) (string, error) {
		return "key-" + strconv.Itoa(int(n.Add(1))), nil
	})
}

func TestARejectedKeyIsRequestedOnceMore(t *testing.T) {
	same := adapter.Asked("acme", true, adapter.ReturnKey, func(context.Context) (string, error) { return "same", nil })
	for name, c := range map[string]struct {
		key  adapter.Key
		good string // the accepted key
		want []string
	}{
		"taken at once":         {numbered(), "key-1", []string{"key-1"}},
		"taken the second time": {numbered(), "key-2", []string{"key-1", "key-2"}},
		"never taken":           {numbered(), "key-3", []string{"key-1", "key-2"}},
		"the same again":        {same, "other", []string{"same"}},
		"nobody to ask":         {adapter.Fixed("key"), "other", []string{"key"}},
		"no key":                {adapter.Fixed(""), "", []string{""}},
	} {
		var sent []string
		base := serve(t, func(w http.ResponseWriter, req *http.Request) {
			if sent = append(sent, req.Header.Get("X-Key")); sent[len(sent)-1] != c.good {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprint(w, `{}`)
		})
		_, err := newClient(base, c.key, nil).Ask(t.Context(), "m", "x", nil, &struct{}{})
		require.Equal(t, c.want, sent, name)
		require.Equal(t, c.want[len(c.want)-1] == c.good, err == nil, name)
	}
}

func TestOtherErrorsAreNotTriedAgain(t *testing.T) {
	var asked atomic.Int32
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	})
	_, err := newClient(base, numbered(), nil).Post(t.Context(), "m", "x", nil, nil)
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Equal(t, int32(1), asked.Load())

	gone := errors.New("gone")
	failing := func(context.Context) (string, error) { return "", gone }
	_, err = newClient(base, failing, nil).Post(t.Context(), "m", "x", nil, nil)
	require.ErrorIs(t, err, gone)
	require.Equal(t, int32(1), asked.Load(), "without a key, nothing is sent")
}

func TestARequestHasTheHeadersOfTheUserLast(t *testing.T) {
	var got *http.Request
	base := serve(t, func(_ http.ResponseWriter, req *http.Request) { got = req })
	base.Path, base.RawQuery = "/gate%2Fway", "api-version=7"
	base.RawPath = base.Path
	base.Path = "/gate/way"
	res, err := newClient(base, adapter.Fixed("own"), http.Header{"x-key": {"mine"}, "X-Extra": {"a", "b"}}).
		Post(t.Context(), "m", "models/a b:run", url.Values{"alt": {"sse"}}, []byte(`{}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "/gate%2Fway/models/a%20b:run?alt=sse&api-version=7", got.RequestURI)
	require.Equal(t, []string{"mine"}, got.Header["X-Key"])
	require.Equal(t, []string{"a", "b"}, got.Header["X-Extra"])
	require.Equal(t, "1", got.Header.Get("X-Version"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	for _, path := range []string{"models/../x", "..", "m?x", "m#x"} {
		_, err = newClient(base, adapter.Fixed(""), nil).Post(t.Context(), "m", path, nil, nil)
		require.Equal(t, fault.Permanent, fault.Of(err))
		require.ErrorContains(t, err, "can't be part of an address")
	}
}

func TestARedirectCarriesNoKeyToAnotherHost(t *testing.T) {
	var elsewhere, here atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	var to string
	base := serve(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/v2/x" {
			here.Add(1)
			require.Equal(t, "the-key-itself", req.Header.Get("X-Key"))
			return
		}
		http.Redirect(w, req, to, http.StatusTemporaryRedirect)
	})
	c := newClient(base, adapter.Fixed("the-key-itself"), nil)
	for _, to = range []string{other.String(), "https://" + base.Host, other.String() + "/?key=the-key-itself"} {
		_, err := c.Post(t.Context(), "m", "x", nil, []byte(`{}`))
		require.Equal(t, fault.UserFixable, fault.Of(err))
		require.ErrorContains(t, err, "the address redirects to http")
		require.NotContains(t, err.Error(), "the-key-itself")
	}
	to = "/v2/x"
	res, err := c.Post(t.Context(), "m", "x", nil, []byte(`{}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, int32(1), here.Load(), "the same host may redirect")
	require.Zero(t, elsewhere.Load())
}

func TestANilClientIsAnError(t *testing.T) {
	_, err := (*adapter.Client)(nil).Post(t.Context(), "m", "x", nil, nil)
	require.EqualError(t, err, "provider: the Model is empty; make it with New")
}

func TestNoVerbPrintsAClient(t *testing.T) {
	c := newClient(&url.URL{Scheme: "http", Host: "h", RawQuery: "k=very-secret"}, adapter.Fixed("very-secret"),
		http.Header{"Authorization": {"Bearer very-secret"}})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, v := range []any{c, *c, struct{ c *adapter.Client }{c}} {
			text := strings.ToLower(fmt.Sprintf(verb, v))
			require.NotContains(t, text, "very-secret", verb)
			require.NotContains(t, text, fmt.Sprintf("%x", "very-secret"), verb)
		}
	}
}
