package servers_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/internal/servers"
)

// row returns the beginning of a server's row in docs/providers.md.
func row(s *servers.Server) string {
	return fmt.Sprintf("| %s | %s | `%s`, `%s`, `%s` | `%s` |", s.Title, s.Name, s.Model, s.Key, s.Address, s.URL)
}

func page(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestThePageHasARowForEachServer compares the names, variables and addresses of the page with the
// table.
func TestThePageHasARowForEachServer(t *testing.T) {
	text := page(t, "../../../docs/providers.md")
	_, table, ok := strings.Cut(text, "\n## Compatible servers\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	rest := table
	for i := range servers.All {
		s := &servers.All[i]
		if s.Name == "openai" { // which the others are compatible with
			continue
		}
		_, after, ok := strings.Cut(rest, "\n"+row(s))
		require.True(t, ok, "the page has no row, or not in the order of the table, that begins\n%s", row(s))
		rest = after
	}
	require.Equal(t, compatible(), strings.Count(table, "\n| ")-1, "a row without a server")
}

// compatible returns how many servers are compatible with OpenAI.
func compatible() int { return len(servers.All) - 1 }

func TestTheReadmeHasTheNumberOfServers(t *testing.T) {
	require.Contains(t, page(t, "../../../README.md"),
		fmt.Sprintf("5 families and %d compatible servers", compatible()))
}
