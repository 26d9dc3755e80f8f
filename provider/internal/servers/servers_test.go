package servers_test

import (
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/provider/internal/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheTableIsValid(t *testing.T) {
	names := servers.Names()
	require.True(t, slices.IsSorted(names[3:]), "after the first three: %v", names)
	seen := map[string]bool{}
	for _, s := range servers.All {
		require.Regexp(t, `^[a-z]+$`, s.Name)
		for _, unique := range []string{s.Name, s.Title, s.URL, s.Key, s.Model, s.Address} {
			require.NotEmpty(t, unique, s.Name)
			require.False(t, seen[unique], unique)
			seen[unique] = true
		}
		require.Regexp(t, `^[A-Z_]+_MODEL$`, s.Model)
		require.Regexp(t, `^[A-Z_]+_(API_KEY|TOKEN)$`, s.Key)
		require.Regexp(t, `^[A-Z_]+_(BASE_URL|ENDPOINT|HOST)$`, s.Address)
		u, err := url.Parse(s.URL)
		require.NoError(t, err)
		require.NotRegexp(t, regexp.MustCompile(`/$`), s.URL)
		if s.Keyless {
			require.Empty(t, s.Hosts, "%s is wherever its user runs it", s.Name)
			require.Equal(t, "localhost", u.Hostname())
			continue
		}
		require.NotEmpty(t, s.KeyPage, s.Name)
		require.Equal(t, s.Name, servers.At(u.Hostname()).Name)
		for _, host := range s.Hosts {
			require.Equal(t, host[0] == '.', servers.At("x"+host) != nil, host)
		}
	}
	require.Nil(t, servers.Named(""))
	require.Nil(t, servers.At("xapi.groq.com"))
	require.Nil(t, servers.At("localhost"))
}

func TestAnAddressIsCompletedAsPeopleWriteIt(t *testing.T) {
	for _, c := range [][3]string{
		{"ollama", "box", "http://box:11434/v1"},
		{"ollama", "box:1234", "http://box:1234/v1"},
		{"ollama", "[::1]", "http://[::1]:11434/v1"},
		{"ollama", "box/ollama/v1", "http://box:11434/ollama/v1"},
		{"ollama", "https://box.example", "https://box.example/v1"},
		{"ollama", "https://box.example/v1/", "https://box.example/v1/"},
		{"ollama", "https://gw.example/ollama", "https://gw.example/ollama/v1"},
		{"ollama", "gw/ollama/", "http://gw:11434/ollama/v1"},
		{"ollama", "gw/v1?key=X", "http://gw:11434/v1?key=X"},
		{"ollama", "gw?key=X", "http://gw:11434/v1?key=X"},
		{"ollama", "gw?to=http://box", "http://gw:11434/v1?to=http://box"},
		{"ollama", "::", "http://::"},
		{"lmstudio", "http://box:1234", "http://box:1234/v1"},
		{"lmstudio", "http://box:1234/v1", "http://box:1234/v1"},
		{"lmstudio", "box:1234", "box:1234"},
		{"azure", "https://mine.openai.azure.com/", "https://mine.openai.azure.com/openai/v1"},
		{"azure", "https://mine.openai.azure.com?api-version=preview",
			"https://mine.openai.azure.com/openai/v1?api-version=preview"},
		{"azure", "https://mine.openai.azure.com/openai/deployments/d", "https://mine.openai.azure.com/openai/deployments/d"},
		{"groq", "http://gateway", "http://gateway"},
	} {
		require.Equal(t, c[2], servers.Named(c[0]).Completed(c[1]), "%s at %q", c[0], c[1])
	}
}

func TestAHostIsShownWithoutWhatMayBeSecret(t *testing.T) {
	for address, want := range map[string]string{
		"http://box:1234/v1?key=X": "box:1234",
		"box":                      "box",
		"box:1234/v1":              "box:1234",
		"gw?key=X":                 "gw",
		"gw#X":                     "gw",
		"gw?to=http://box/X":       "gw",
	} {
		require.Equal(t, want, servers.HostOf(address), address)
	}
}
