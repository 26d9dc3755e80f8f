package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the core may have at most: today's figures, which may only fall. Lower them with the code.
const (
	mostExported = 206 // names that package agent exports; the goal was 205, before Find and Erase
	mostInCycle  = 30  // files of agent in the largest cycle of references; the goal is 30
	mostOfDriver = 49  // methods of the driver, and functions with a parameter of its type; the goal is 60
	// code lines of the core; the goal was 11,900, before legs, going back and queued inputs, and
	// before marks of unanswered requests, limits of trees, conditions, bounds of waits for a
	// store, words for people, facts of the host, bounds of what waits, exit codes, requests across
	// processes or that were too long, roles, tenants, the refusal of unknown prices, text from
	// outside, and the erasure of words
	mostCode = 18_022
)

// TestTheCoreDoesNotGrow measures what tells how hard the core is to change. With -v it prints the
// figures.
func TestTheCoreDoesNotGrow(t *testing.T) {
	files := code(repository(t))
	agent := checkedAgent(t)
	exported, lines := 0, 0
	for _, f := range files {
		if f.dir() == "agent" {
			exported += f.exported()
		}
		if slices.Contains(core, f.dir()) {
			lines += f.codeLines()
		}
	}
	refs := referencesOf(agent)
	cycle := refs.largestCycle()
	functions, ofDriver := functionsOf(agent, "driver")
	require.NotZero(t, ofDriver, "the driver's type has another name")

	bounded := func(what string, measured, most int, details string) {
		t.Logf("%d %s, at most %d", measured, what, most)
		if measured > most {
			t.Errorf("%d %s, more than %d\n%s", measured, what, most, details)
		} else if measured < most {
			t.Logf("that is less: lower the bound in core_test.go")
		}
	}
	bounded("names that package agent exports", exported, mostExported, "")
	bounded("files of agent in a cycle of references", len(cycle), mostInCycle, strings.Join(cycle, "\n"))
	bounded("methods of the driver and functions with a parameter of its type", ofDriver, mostOfDriver,
		listed(functions))
	bounded("code lines of the core", lines, mostCode, "")
}

// functionsOf returns the methods of a type, and the functions and methods with a parameter that
// points to it, by the file that declares them, and how many they are.
func functionsOf(p *checked, name string) (byFile map[string][]string, n int) {
	byFile = make(map[string][]string)
	add := func(name string, f *types.Func) {
		file := p.fileOf(f.Pos())
		byFile[file] = append(byFile[file], name)
		n++
	}
	isIt := func(t types.Type) bool {
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && named.Obj().Pkg() == p.types && named.Obj().Name() == name
	}
	takesIt := func(f *types.Func) bool {
		for v := range f.Signature().Params().Variables() {
			if isIt(v.Type()) {
				return true
			}
		}
		return false
	}
	for _, n := range p.types.Scope().Names() {
		switch o := p.types.Scope().Lookup(n).(type) {
		case *types.Func:
			if takesIt(o) {
				add(n, o)
			}
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			if !ok || o.IsAlias() {
				continue
			}
			for f := range named.Methods() {
				if n == name || takesIt(f) {
					add(n+"."+f.Name(), f)
				}
			}
		}
	}
	return byFile, n
}

// listed has a line for each file.
func listed(byFile map[string][]string) string {
	var b strings.Builder
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		fmt.Fprintf(&b, "%s: %s\n", file, strings.Join(byFile[file], " "))
	}
	return b.String()
}

func TestFunctionsOf(t *testing.T) {
	p := checkedFiles(t, map[string]string{
		"a.go": "type driver struct{}; func (*driver) run() { start(0, nil) }; func (driver) copied() {}",
		"b.go": "func start(int, *driver) {}; func several([]*driver) {}; func made() *driver { return nil }",
		"c.go": "type other struct{}; func (other) with(d *driver) {}; func (other) without() {}",
	})
	functions, n := functionsOf(p, "driver")
	require.Equal(t, 4, n)
	require.Equal(t, "a.go: driver.run driver.copied\nb.go: start\nc.go: other.with\n", listed(functions))
}

// checkedFiles type-checks a package whose files are given without their first line.
func checkedFiles(t *testing.T, texts map[string]string) *checked {
	t.Helper()
	p := &checked{fset: token.NewFileSet(), uses: make(map[*ast.Ident]types.Object)}
	var parsed []*ast.File
	for name, text := range texts {
		f, err := parser.ParseFile(p.fset, name, "package p\n"+text, 0)
		require.NoError(t, err)
		p.files, parsed = append(p.files, name), append(parsed, f)
	}
	var err error
	p.types, err = new(types.Config).Check("p", p.fset, parsed, &types.Info{Uses: p.uses})
	require.NoError(t, err)
	return p
}
