package adapter

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreign is a transport of a host.
type foreign struct{ http.RoundTripper }

func TestRequestsEndWithTheirContextUnlessAFunctionOfTheHostMayIgnoreIt(t *testing.T) {
	base, err := url.Parse("https://api.acme.com")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		cfg  ClientConfig
		want bool
	}{
		"no client":         {ClientConfig{}, true},
		"net/http's own":    {ClientConfig{HTTPClient: &http.Client{Transport: &http.Transport{}}}, true},
		"another":           {ClientConfig{HTTPClient: &http.Client{Transport: foreign{http.DefaultTransport}}}, false},
		"a key of a host":   {ClientConfig{AsksHost: true}, false},
		"a cloud":           {ClientConfig{}.In(&Cloud{Base: base}), true},
		"a cloud that asks": {ClientConfig{}.In(&Cloud{Base: base, AsksHost: true}), false},
	} {
		require.Equal(t, c.want, NewClient(c.cfg).EndsWithContext(), name)
	}
	require.False(t, (*Client)(nil).EndsWithContext())
}
