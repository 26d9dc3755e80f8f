package rules

import (
	"bytes"
	"go/parser"
	"go/token"
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
func unexported() {}
`)
	add("q/q.go", "package q\nimport x \"github.com/pawlkit/pawl/p\"\nvar v x.Used")
	add("q/q_test.go", "package q\nimport x \"github.com/pawlkit/pawl/p\"\nvar w x.Tested")
	add("p/example_test.go", "package p_test\nimport \"github.com/pawlkit/pawl/p\"\nvar _ = p.Shown")
	add("docs/p.md", "a p.OnPage")
	add("p/internal/i/i.go", "package i\ntype Name int")
	all := exportsOf(files)
	require.Len(t, all, 2)
	require.Len(t, all["p"], 9)
	require.Equal(t, map[string][]string{"p": {"Hidden", "One", "Tested"}}, all.unused(files))
	var out bytes.Buffer
	require.NoError(t, printNames(&out, files, true))
	require.Contains(t, out.String(), "total ")
	require.Contains(t, out.String(), "  Tested\n")
}

// maxNames is how many top-level names the library exports; it may only shrink.
const maxNames = 1596

func TestTheLibraryExportsNoMoreNames(t *testing.T) {
	total := 0
	for _, declared := range exportsOf(repository(t)) {
		total += len(declared)
	}
	require.LessOrEqual(t, total, maxNames, "a new exported name goes with another that has no user: "+
		"go run ./internal/rules/sizes names list")
}
