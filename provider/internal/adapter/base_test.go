package adapter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

const (
	variable = "PAWL_TEST_BASE_URL"
	own      = "https://api.acme.com"
)

func TestTheEnvironmentsKeyGoesToTheEnvironmentsAddressAndToTheProvidersOwn(t *testing.T) {
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

func TestAnAddressThatIsNoneIsNotRepeated(t *testing.T) {
	for _, bad := range []string{"localhost:8080", "://", "file:///secret", "http://", "ftp://secret", "secret"} {
		t.Setenv(variable, bad)
		for _, configured := range []string{"", bad} {
			_, trusted, err := Base("acme", configured, variable, own)
			require.Equal(t, fault.UserFixable, fault.Of(err), bad)
			require.ErrorContains(t, err, "acme: BaseURL is no http or https address")
			require.NotContains(t, err.Error(), "secret")
			remedy, _ := fault.Remedy(err)
			require.Equal(t, "set Config.BaseURL, or "+variable+", to an address such as "+own, remedy)
			require.False(t, trusted)
		}
	}
}
