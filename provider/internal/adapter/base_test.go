package adapter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

const (
	variable = "PAWL_TEST_BASE_URL"
	own      = "https://api.acme.com"
)

func TestTheEnvironmentsKeyIsSentOnlyToTrustedAddresses(t *testing.T) {
	for _, c := range []struct {
		configured, env, base string
		trusted               bool
	}{
		{"", "", "", true},
		{"", "http://gateway/x", "http://gateway/x", true},
		{"http://gateway", "http://gateway", "http://gateway", true},
		{own, "", own, true},
		{own + ":443/v1", "http://gateway", own + ":443/v1", true},
		{"https://API.acme.com", "", "https://API.acme.com", true},
		{"http://elsewhere", "", "http://elsewhere", false},
		{"http://elsewhere", "http://gateway", "http://elsewhere", false},
		{"http://gateway/", "http://gateway", "http://gateway/", false},
		{"http://api.acme.com", "", "http://api.acme.com", false},
		{own + ".elsewhere", "", own + ".elsewhere", false},
		{own + ":8443", "", own + ":8443", false},
		{"https://user@elsewhere/api.acme.com", "", "https://user@elsewhere/api.acme.com", false},
	} {
		t.Setenv(variable, c.env)
		base, trusted, err := Base("acme", c.configured, variable, own)
		require.NoError(t, err)
		require.Equal(t, c.trusted, trusted, "%+v", c)
		if c.base == "" {
			require.Nil(t, base)
			continue
		}
		require.Equal(t, c.base, base.String())
	}
}

func TestTheErrorDoesNotContainAnInvalidAddress(t *testing.T) {
	for _, bad := range []string{"://", "file:///secret", "http://", "ftp://secret", "secret",
		"user:secret@localhost:80", "localhost:80?key=secret", "secret:x", "http:secret"} {
		t.Setenv(variable, bad)
		for _, configured := range []string{"", bad} {
			_, trusted, err := Base("acme", configured, variable, own)
			require.Equal(t, fault.UserFixable, fault.Of(err), bad)
			require.ErrorContains(t, err, " isn't an http or https address")
			require.NotContains(t, err.Error(), "secret")
			remedy, _ := fault.Remedy(err)
			require.Equal(t, "set it to an address such as "+own, remedy)
			require.False(t, trusted)
		}
	}
}

func TestTheErrorForAMissingSchemeSaysSo(t *testing.T) {
	for _, address := range []string{"localhost:11434", "localhost", "localhost:11434/v1", "127.0.0.1:8080",
		"[::1]:8080", "gateway.example.com:443/v1"} {
		for _, setting := range []string{"Config.BaseURL", variable} {
			configured := address
			t.Setenv(variable, "")
			if setting == variable {
				configured = ""
				t.Setenv(variable, address)
			}
			_, _, err := Base("acme", configured, variable, own)
			require.Equal(t, fault.UserFixable, fault.Of(err))
			require.ErrorContains(t, err,
				fmt.Sprintf("acme: %s: %q has no scheme (remedy: write %q)", setting, address, "http://"+address))
		}
	}
}

func TestAHostsModelIsFoundByItsID(t *testing.T) {
	known := []provider.ModelInfo{{ID: "a", Window: 1}, {ID: "b", Provider: "other"}, {ID: "a", Window: 2}}
	info, ok := Known(known, "acme", "a")
	require.True(t, ok)
	require.Equal(t, provider.ModelInfo{ID: "a", Provider: "acme", Window: 1}, info)
	info, ok = Known(known, "acme", "b")
	require.True(t, ok)
	require.Equal(t, "other", info.Provider)
	_, ok = Known(known, "acme", "c")
	require.False(t, ok)
	require.Empty(t, known[0].Provider, "what the host gave is left alone")
}

func TestWhatIsKnownSharesNothingWithTheHost(t *testing.T) {
	info := provider.ModelInfo{ID: "m", Inputs: []string{"text"}, Outputs: []string{"text"},
		Prices: &provider.Prices{Input: 1}}
	copied, _ := Known([]provider.ModelInfo{info}, "", "m")
	require.Equal(t, info, copied)
	copied.Inputs[0], copied.Outputs[0], copied.Prices.Input = "x", "y", 2
	require.Equal(t, provider.ModelInfo{ID: "m", Inputs: []string{"text"}, Outputs: []string{"text"},
		Prices: &provider.Prices{Input: 1}}, info)
}
