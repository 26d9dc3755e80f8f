package adapter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
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
