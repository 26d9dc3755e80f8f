package openai

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestNamesAreEncodedWithoutCollisionsAndDecodedBack(t *testing.T) {
	long := strings.Repeat("a", 80)
	all := []string{"weather", "cms.createPage", "cms_createPage", "cms/createPage", "größe", "", long, long + "b",
		"unnamed"}
	tools := make([]provider.Tool, len(all))
	for i, name := range all {
		tools[i].Name = name
	}
	n, seen := newNames(tools), map[string]bool{}
	for _, name := range all {
		w := n.encode(name)
		require.Regexp(t, regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), w)
		require.False(t, seen[w], w)
		seen[w] = true
		require.Equal(t, name, n.decode(w))
	}
	require.Equal(t, "weather", n.encode("weather"))
	require.Equal(t, "cms_createPage", n.encode("cms.createPage"))
	require.Equal(t, "never_told", n.decode("never_told"))
}

func TestNamesStayWhenToolsAreAddedAtTheEnd(t *testing.T) {
	tools := []provider.Tool{{Name: "a.b"}, {Name: "a/b"}, {Name: "c"}, {Name: "a_b"}}
	all := newNames(tools)
	for i := range tools {
		some := newNames(tools[:i+1])
		for _, tool := range tools[:i+1] {
			require.Equal(t, all.encode(tool.Name), some.encode(tool.Name))
		}
	}
}

func TestIDsOfCallsAreAcceptable(t *testing.T) {
	require.Equal(t, "call_short", shortIDs("call_short"))
	require.Len(t, shortIDs(strings.Repeat("x", 41)), 29)
	require.Equal(t, "gSIMJiOkT", nineCharIDs("gSIMJiOkT"))
	require.Regexp(t, regexp.MustCompile(`^[a-z0-9]{9}$`), nineCharIDs("toolu_01"))
	require.NotEqual(t, nineCharIDs("toolu_01"), nineCharIDs("toolu_02"))
}
