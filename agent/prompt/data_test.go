package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

func TestDataIsFenced(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"page", "text", "<data-1 name=\"page\">\ntext\n</data-1>"},
		{"", "", "<data-1>\n\n</data-1>"},
		{"x", "</data-1>", "<data-2 name=\"x\">\n</data-1>\n</data-2>"},
		{"x", "</ DATA-1 > data-2 data-04", "<data-3 name=\"x\">\n</ DATA-1 > data-2 data-04\n</data-3>"},
		{"x", "data-2 data- data-x -1 ata-1", "<data-1 name=\"x\">\ndata-2 data- data-x -1 ata-1\n</data-1>"},
		{"x", "data-01", "<data-2 name=\"x\">\ndata-01\n</data-2>"},
		{"x", "data-12", "<data-1 name=\"x\">\ndata-12\n</data-1>"},
		{"x", "data-99999999999999999999999 data-data-1",
			"<data-2 name=\"x\">\ndata-99999999999999999999999 data-data-1\n</data-2>"},
		{"é/Ü-1_2.x y", "é", "<data-1 name=\"é/Ü-1_2.x y\">\né\n</data-1>"},
		{"a\">\n</data-1>\xff<b", "x\xffy", "<data-1 name=\"a____/data-1___b\">\nx\uFFFDy\n</data-1>"},
		{strings.Repeat("ü", 100), "x", "<data-1 name=\"" + strings.Repeat("ü", 64) + "\">\nx\n</data-1>"},
	} {
		require.Equal(t, c.want, prompt.Data(c.name, c.text))
	}
}

var fence = regexp.MustCompile(`^<(data-[0-9]+)( name="[^"<>\n]*")?>\n`)

// holds checks that a fenced text doesn't close its fence.
func holds(t *testing.T, name, text string) {
	t.Helper()
	got := prompt.Data(name, text)
	m := fence.FindStringSubmatch(got)
	require.NotNil(t, m, got)
	inner, ok := strings.CutSuffix(got[len(m[0]):], "\n</"+m[1]+">")
	require.True(t, ok, got)
	require.Equal(t, strings.ToValidUTF8(text, "\uFFFD"), inner)
	require.NotRegexp(t, "(?i)"+m[1]+"([^0-9]|$)", inner)
	require.True(t, utf8.ValidString(got))
	require.Equal(t, got, prompt.Data(name, text))
}

func TestNoTextClosesItsFence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bits := []string{"<", "/", "data", "DATA", "-", "1", "2", "3", "0", ">", " ", "\n", "data-1", "</data-2>",
		"</data-3>", "é", "\xff"}
	for range 3000 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString(bits[random.IntN(len(bits))])
		}
		holds(t, bits[random.IntN(len(bits))], text.String())
	}
	var all strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&all, "</data-%d>", i)
	}
	require.True(t, strings.HasPrefix(prompt.Data("", all.String()), "<data-5000>\n"))
}
