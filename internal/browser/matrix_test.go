package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of docs/serve.md instead of comparing it")

// matrixCases are the rows of the table of docs/serve.md: what a stock client does, or what happens
// to it.
var matrixCases = []string{"text", "reasoning", "parallel tools", "tool error", "approve", "reject", "edit",
	"front-end tool", "error of a front-end tool", "model error", "stop", "regenerate", "edit a message",
	"reload in mid-stream", "reload with an open approval", "two clients", "message while running",
	"message while an approval waits", "graceful restart in mid-stream", "kill -9"}

// A matrixColumn is a stock client.
type matrixColumn struct {
	name  string
	cells map[string]matrixCell // by case
}

// A matrixCell is the test of a case with a client, or says why the client can't do it.
type matrixCell struct {
	test func(t *testing.T)
	why  string
}

func matrixColumns() []matrixColumn {
	return slices.Concat(useChatColumns(), aguiColumns(), assistantColumns())
}

func TestStockClients(t *testing.T) {
	t.Parallel()
	for _, c := range matrixColumns() {
		for _, name := range matrixCases {
			if cell := c.cells[name]; cell.test != nil {
				t.Run(c.name+": "+name, cell.test)
			}
		}
	}
}

func TestTheTableOfStockClientsIsThatOfTheTests(t *testing.T) {
	const begin, end = "<!-- stock clients -->\n", "<!-- end of stock clients -->"
	path := filepath.Join("..", "..", "docs", "serve.md")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(raw), begin)
	require.True(t, found)
	was, after, found := strings.Cut(rest, end)
	require.True(t, found)
	table := matrixTable(t, matrixColumns())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
		return
	}
	require.Equal(t, table, was, "run this test with -update")
}

// matrixTable returns the table as Markdown, with the reasons below it.
func matrixTable(t *testing.T, columns []matrixColumn) string {
	var b strings.Builder
	var reasons []string
	b.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.name)
		for name := range c.cells {
			require.Contains(t, matrixCases, name, c.name)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, name := range matrixCases {
		fmt.Fprintf(&b, "| %s |", name)
		for _, c := range columns {
			cell, ok := c.cells[name]
			require.True(t, ok && (cell.test == nil) == (cell.why != ""),
				"%s: %s: it needs a test, or a reason why there is none", c.name, name)
			if cell.test != nil {
				b.WriteString(" yes |")
				continue
			}
			i := slices.Index(reasons, cell.why)
			if i < 0 {
				i, reasons = len(reasons), append(reasons, cell.why)
			}
			fmt.Fprintf(&b, " no (%d) |", i+1)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "(%d) %s\n", i+1, why)
	}
	return b.String()
}
