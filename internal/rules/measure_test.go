package rules

import (
	"bytes"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeasures(t *testing.T) {
	f := &file{path: "p/x.go", fset: token.NewFileSet(), text: `// Package p has a comment.
package p

import "fmt" // counts

/* Neither does
this */

// T has three fields.
type T struct {
	A, B int
	fmt.Stringer
}

type (
	// Alias has methods elsewhere.
	Alias = fmt.Stringer
	hidden struct{}
)

func (t *T) M()    {}
func (hidden) M() {}

var text, Text = ` + "`a\nb`" + `, 1
`}
	var err error
	f.ast, err = parser.ParseFile(f.fset, f.path, f.text, parser.ParseComments)
	require.NoError(t, err)
	require.Equal(t, 25, f.lines())
	require.Equal(t, 14, f.codeLines())
	require.Equal(t, []structType{{"p.T", f.path, 3}, {"p.hidden", f.path, 0}}, f.structs())
	require.Equal(t, 4, f.exported(), "T, Alias, T.M and Text")
}

func TestCycles(t *testing.T) {
	refs := make(references)
	for from, to := range map[string]string{"a": "b", "b": "c", "c": "b", "d": "ae", "e": "f", "f": "g", "g": "e"} {
		refs[from] = make(map[string]bool)
		for _, name := range to {
			refs[from][string(name)] = true
		}
	}
	require.Equal(t, [][]string{{"e", "f", "g"}, {"b", "c"}}, refs.cycles())
	require.Equal(t, "a e", refs.within("d", []string{"a", "c", "e"}))
}

// TestTheLogCallsNoDriver: the driver writes by way of the log, and the log knows of a driver only
// whether there is one. The machine below them is a package of its own, whose row in
// imports_test.go names neither.
func TestTheLogCallsNoDriver(t *testing.T) {
	p := checkedAgent(t)
	require.Contains(t, p.files, "log.go")
	require.NotNil(t, p.types.Scope().Lookup("driver"), "the driver's type has another name")
	for name, used := range p.uses {
		f, ok := used.(*types.Func)
		if !ok || f.Signature().Recv() == nil || p.fileOf(name.Pos()) != "log.go" {
			continue
		}
		receiver := f.Signature().Recv().Type()
		if pointer, ok := receiver.(*types.Pointer); ok {
			receiver = pointer.Elem()
		}
		if named, ok := receiver.(*types.Named); ok && named.Obj().Name() == "driver" {
			t.Errorf("%s: the log calls the driver's method %s", p.fset.Position(name.Pos()), name.Name)
		}
	}
}

func TestSizesArePrinted(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printSizes(&out, repository(t), checkedAgent(t)))
	for _, want := range []string{"agent/machine ", "the core (agent, ", "files of more than 400 lines", "RunState ",
		"library exports", "types of agent with most methods", "in a cycle of references"} {
		require.Contains(t, out.String(), want)
	}
}
