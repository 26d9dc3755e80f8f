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
	require.Equal(t, 2*compatible(), strings.Count(table, "\n| ")-2, "a row without a server")
}

// TestThePageSaysWhatTheTableSaysIsLacking compares the second table, and wants exchanges for each
// server.
func TestThePageSaysWhatTheTableSaysIsLacking(t *testing.T) {
	_, table, ok := strings.Cut(page(t, "../../../docs/providers.md"), "\n| server | API |")
	require.True(t, ok)
	lines := strings.Split(table, "\n")[2:]
	for i := range servers.All[1:] {
		s := &servers.All[i+1]
		cells := strings.Split(strings.Trim(lines[i], "| "), " | ")
		require.Len(t, cells, 9, s.Name)
		require.Equal(t, s.Title, cells[0])
		schema, parallel, choice, usage := cells[2], cells[3], cells[4], cells[6]
		require.Equal(t, s.Chat.JSONObject, strings.HasPrefix(schema, "JSON only"), s.Name)
		require.Equal(t, s.Chat.NoParallelField, strings.HasPrefix(parallel, "not sent"), s.Name)
		require.Equal(t, s.Chat.OnlyAuto, strings.HasSuffix(choice, "leaves the tools out"), s.Name)
		require.Equal(t, s.Chat.NoNamedChoice, strings.HasSuffix(choice, "offered alone"), s.Name)
		require.Equal(t, s.Chat.NoStreamOptions, strings.HasSuffix(usage, "is rejected"), s.Name)
		require.NotEmpty(t, page(t, "../../../internal/wirecases/testdata/servers/"+s.Name+".txt"))
	}
}

// compatible returns how many servers are compatible with OpenAI.
func compatible() int { return len(servers.All) - 1 }

func TestTheReadmeHasTheNumberOfServers(t *testing.T) {
	require.Contains(t, page(t, "../../../README.md"),
		fmt.Sprintf("5 families and %d compatible servers", compatible()))
	require.Contains(t, page(t, "../../../docs/providers.md"),
		fmt.Sprintf("knows %d compatible servers by name", compatible()))
}
