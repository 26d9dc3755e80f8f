package rules

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEnumerationsAreWhole: a host that gets a value of a type can name it.
func TestEnumerationsAreWhole(t *testing.T) {
	all := enumerations(goFiles(t))
	require.Greater(t, len(all), 30, "the rule has lost what it reads")
	for _, e := range all {
		for _, name := range e.names {
			if name != "_" && !ast.IsExported(name) {
				t.Errorf("%s: %s is a constant of the exported type %s; export it, too", e.dir, name, e.typ)
			}
		}
	}
}

// TestConstantsOfEnumerationsAreUsed by the package that sends or reads them.
func TestConstantsOfEnumerationsAreUsed(t *testing.T) {
	uses := map[string]map[string]int{} // of each name, by folder
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if uses[f.dir()] == nil {
					uses[f.dir()] = map[string]int{}
				}
				uses[f.dir()][id.Name]++
			}
			return true
		})
	}
	for _, e := range enumerations(goFiles(t)) {
		for _, name := range e.names {
			n := -1 // its declaration
			for _, names := range uses {
				n += names[name]
			}
			if n <= 0 && unusedConstants[e.dir+"."+name] == "" {
				t.Errorf("%s: nothing uses %s.%s; take it out, or say why in unusedConstants", e.dir, e.typ, name)
			}
		}
	}
}

// unusedConstants are those that only hosts use, and why.
var unusedConstants = map[string]string{
	"agent.AskInDoubt":         "is the default",
	"agent/machine.ActNothing": "is the zero value",
	"stream/uimessage.V7":      "is the default",
}

// TestTextsOfEnumerationsStay: they are stored and sent. testdata/texts.txt has each.
func TestTextsOfEnumerationsStay(t *testing.T) {
	known, err := os.ReadFile("testdata/texts.txt")
	require.NoError(t, err)
	var now []string
	for _, e := range enumerations(goFiles(t)) {
		for _, text := range e.texts {
			now = append(now, e.dir+"."+text)
		}
	}
	slices.Sort(now)
	require.Equal(t, string(known), strings.Join(now, "\n")+"\n",
		"add a new text to testdata/texts.txt; one that was released doesn't change")
}
