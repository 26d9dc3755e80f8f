package stops

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "../../../docs/durability.md"

// A table says at how many points each scenario was stopped in each way.
type table struct {
	corner string // of its header, by which it is found on the page
	rows   []string
	points map[[2]string]int // by way and scenario
}

// add notes how many points were tried.
func (tab *table) add(way, scenario string, points int) {
	if tab.points == nil {
		tab.points = make(map[[2]string]int)
	}
	if !slices.Contains(tab.rows, way) {
		tab.rows = append(tab.rows, way)
	}
	tab.points[[2]string{way, scenario}] += points
}

// compare requires that the page has the table, with these ways and scenarios. With -update it
// writes the page.
func (tab *table) compare(t *testing.T, scenarios []string) {
	t.Helper()
	if t.Failed() {
		return
	}
	lines := []string{"| " + tab.corner + " | " + strings.Join(scenarios, " | ") + " |",
		strings.Repeat("| --- ", len(scenarios)+1) + "|"}
	for _, way := range tab.rows {
		row := "| " + way
		for _, s := range scenarios {
			if n := tab.points[[2]string{way, s}]; n > 0 {
				row += fmt.Sprintf(" | %d", n)
			} else {
				row += " | –"
			}
		}
		lines = append(lines, row+" |")
	}
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	old := strings.Split(string(data), "\n")
	begin := slices.IndexFunc(old, func(l string) bool { return strings.HasPrefix(l, "| "+tab.corner+" |") })
	require.GreaterOrEqual(t, begin, 0, "the page has no table %q", tab.corner)
	end := begin
	for end < len(old) && strings.HasPrefix(old[end], "|") {
		end++
	}
	if *update {
		out := slices.Concat(old[:begin], lines, old[end:])
		require.NoError(t, os.WriteFile(page, []byte(strings.Join(out, "\n")), 0o644))
		return
	}
	require.Equal(t, names(lines), names(old[begin:end]), "run the tests with -every 1 -update")
}

// names returns what a table has in its first row and column.
func names(lines []string) (names []string) {
	for i, l := range lines {
		if i == 0 {
			names = append(names, l)
		} else {
			names = append(names, strings.Split(l, "|")[1])
		}
	}
	return names
}
