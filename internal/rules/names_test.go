package rules

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesWithoutAUserAreFound(t *testing.T) {
	var files []*file
	add := func(path, text string) {
		f := &file{path: path, text: text, fset: token.NewFileSet()}
		if path != "docs/p.md" {
			var err error
			f.ast, err = parser.ParseFile(f.fset, path, text, 0)
			require.NoError(t, err)
		}
		files = append(files, f)
	}
	add("p/p.go", `package p
type Used struct { Part Part; hidden Hidden }
type Part int
type Hidden int
type OnPage int
const One Part = 1
func (Used) M(Arg) {}
type Arg int
type Tested int
func Shown(func(in Callback)) {}
type Callback int
func Also() {}
func unexported() {}
`)
	add("q/q.go", "package q\nimport x \"github.com/pawlkit/pawl/p\"\nvar v x.Used")
	add("q/q_test.go", "package q\nimport x \"github.com/pawlkit/pawl/p\"\nvar w x.Tested")
	add("p/example_test.go", "package p_test\nimport \"github.com/pawlkit/pawl/p\"\nvar _ = p.Shown")
	add("p/also_example_test.go", "package p_test\nimport \"github.com/pawlkit/pawl/p\"\nvar _ = p.Also")
	add("docs/p.md", "a p.OnPage")
	add("p/internal/i/i.go", "package i\ntype Name int")
	all := exportsOf(files)
	require.Len(t, all, 2)
	require.Len(t, all["p"], 10)
	require.Equal(t, map[string][]string{"p": {"Hidden", "Tested"}}, all.unused(files))
	var out bytes.Buffer
	require.NoError(t, printNames(&out, files, true))
	require.Contains(t, out.String(), "total ")
	require.Contains(t, out.String(), "  Tested\n")
}

// maxUnused is the share of exported names, in percent, that may be without a user.
const maxUnused = 25

// TestNamesWithoutAUserHaveAReason: a name that nobody uses costs each reader of go doc a line. So
// testdata/unused.txt says of each why it stays: "package Name: reason".
func TestNamesWithoutAUserHaveAReason(t *testing.T) {
	text, err := os.ReadFile("testdata/unused.txt")
	require.NoError(t, err)
	reasons := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			name, reason, ok := strings.Cut(line, ": ")
			require.True(t, ok, "%q has no reason", line)
			require.NotContains(t, reasons, name, "listed twice")
			reasons[name] = reason
		}
	}
	files := repository(t)
	all := exportsOf(files)
	total, listed := 0, len(reasons)
	for _, declared := range all {
		total += len(declared)
	}
	require.LessOrEqual(t, listed*100, total*maxUnused)
	for pkg, names := range all.unused(files) {
		for _, name := range names {
			if key := pkg + " " + name; reasons[key] == "" {
				t.Errorf("%s has no user: delete it, make it lower case, use it in an example, or say in testdata/unused.txt "+
					"why it stays", key)
			} else {
				delete(reasons, key)
			}
		}
	}
	for name := range reasons {
		t.Errorf("%s is in testdata/unused.txt, and has a user or is gone", name)
	}
}
