package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func named(names ...string) []provider.Tool {
	tools := make([]provider.Tool, len(names))
	for i, name := range names {
		tools[i].Name = name
	}
	return tools
}

func TestValidNamesStayUnchanged(t *testing.T) {
	for _, name := range []string{"weather", "get_weather-2", "_x", "A_x2E", strings.Repeat("n", LongestName)} {
		require.Equal(t, name, NewNames(nil).Encode(name))
	}
}

func TestNamesAreEncodedWithoutCollisionsAndDecodedBack(t *testing.T) {
	long := strings.Repeat("a", 80)
	all := []string{"weather", "cms.createPage", "cms_createPage", "cms/createPage", "größe", "", long, long + "b",
		"unnamed", "2-d", "_2-d", "-", "\xff"}
	n, seen := NewNames(named(all...)), map[string]bool{}
	for _, name := range all {
		sent := n.Encode(name)
		require.Regexp(t, regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`), sent)
		require.False(t, seen[sent], sent)
		seen[sent] = true
		require.Equal(t, name, n.Decode(sent))
	}
	require.Equal(t, "weather", n.Encode("weather"))
	require.Equal(t, "cms_createPage", n.Encode("cms.createPage"))
	require.Equal(t, "_2-d", n.Encode("2-d"))
	require.Equal(t, "never_told", n.Decode("never_told"))
}

func TestNamesStayWhenToolsAreAddedAtTheEnd(t *testing.T) {
	tools := named("a.b", "a/b", "c", "a_b")
	all := NewNames(tools)
	for i := range tools {
		some := NewNames(tools[:i+1])
		for _, tool := range tools[:i+1] {
			require.Equal(t, all.Encode(tool.Name), some.Encode(tool.Name))
		}
	}
}

func TestANameThatEqualsAnEncodedOneStaysDistinct(t *testing.T) {
	sum := sha256.Sum256([]byte("a.b"))
	all := []string{"a_b_" + hex.EncodeToString(sum[:4]), "a_b", "a.b"}
	n := NewNames(named(all...))
	for _, name := range all {
		require.Equal(t, name, n.Decode(n.Encode(name)))
	}
}
