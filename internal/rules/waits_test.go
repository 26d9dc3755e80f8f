package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// realWaits are the declarations that may wait in real time, by "folder.name", or all of a folder,
// and why.
var realWaits = map[string]string{
	"agent/plan.TestCrashesRepeatNoNode": "it kills a process at a random moment after an event",
	"agent/team": "its processes share only a journal, each looks there for what the others do, and they are killed " +
		"at random moments; its other tests are in bubbles",
	"agent/work": "its processes share only a journal, each looks there for what the others do, and they are killed " +
		"at random moments; its other tests are in bubbles",
	"agent/work/river": "its processes share only a database, each looks there for what the others do, and they are " +
		"killed at random moments",
	"examples/cms..until": "it kills a process at a random moment after a line of output",
	"examples/cms/internal/assistant.TestACallIsRefusedWhileItsBreakerIsOpen": "the cooldown of a breaker before a " +
		"server on loopback",
	"examples/content.TestCrashesInEdits":                        "it kills a process at a random moment",
	"examples/content.TestCrashesInPipelines":                    "it kills a process at a random moment",
	"examples/content/internal/assistant.TestCrashesInPipelines": "it kills a process at a random moment",
	"examples/coder": "it starts the program as a process, looks on the disk for what it does, and kills it",
	"examples/team":  "it kills a process at random moments",
	"internal/browser": "a browser has its own clock: its page is looked at until it shows what is expected, and " +
		"servers answer at the pace of a model or a slow network",
	"internal/desk.writer":                        "a model writes at its pace in another process, and PostgreSQL answers in real time",
	"memory/sqlmemory.TestASlowWriterIsWaitedFor": "SQLite gives no sign that it waits for a lock",
}

// TestNoTestWaitsInRealTime: time in tests is fake, or a test waits for what happens. If
// that never happens, the time limit of go test ends the test and prints every goroutine's stack.
func TestNoTestWaitsInRealTime(t *testing.T) {
	packages := make(map[string][]*file)
	for _, f := range goFiles(t) {
		if f.test() {
			packages[f.dir()] = append(packages[f.dir()], f)
		}
	}
	exceptions := maps.Clone(realWaits)
	for dir, files := range packages {
		for name, at := range waiting(files) {
			if realWaits[dir] == "" && realWaits[dir+"."+name] == "" {
				t.Errorf("%s waits in real time: use testing/synctest, or wait for what is to happen", at)
			}
			delete(exceptions, dir)
			delete(exceptions, dir+"."+name)
		}
	}
	require.Empty(t, exceptions, "realWaits names what doesn't wait")
}

func TestWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a wait":          {`func TestA(t T) { <-time.After(1) }`, []string{"TestA"}},
		"a poll":          {`func TestA(t T) { require.Eventually(t, f, 1, 1) }`, []string{"TestA"}},
		"a bubble":        {`func TestA(t T) { synctest.Test(t, func(t T) { time.Sleep(1) }) }`, nil},
		"beside a bubble": {`func TestA(t T) { synctest.Test(t, func(t T) {}); time.Sleep(1) }`, []string{"TestA"}},
		"a function":      {`func wait() { time.Sleep(1) }; func TestA(t T) { wait() }`, []string{"wait"}},
		"in a bubble": {
			`func wait() { time.Sleep(1) }; func TestA(t T) { synctest.Test(t, func(t T) { wait() }) }`, nil},
		"a bubble's own": {`func wait(t T) { time.Sleep(1) }; func TestA(t T) { synctest.Test(t, wait) }`, nil},
		"a method": {`type a int; func (a) Wait() { time.Sleep(1) }; func TestA(t T) { use(a(1)) }`,
			[]string{"a"}},
		"a value":    {`func TestA(t T) { use(time.Sleep) }`, []string{"TestA"}},
		"a variable": {`var wait = func() { time.Sleep(1) }; func TestA(t T) { wait() }`, []string{"wait"}},
		"a function's": {
			`func in(t T, f func()) { synctest.Test(t, f) }; func TestA(t T) { in(t, func() { time.Sleep(1) }) }`, nil},
		"a literal's": {
			`func TestA(t T) { in := func(f func()) { synctest.Test(t, f) }; in(func() { time.Sleep(1) }) }`, nil},
		"beside a literal's": {
			`func TestA(t T) { in := func(f func()) { synctest.Test(t, f) }; in(nil); time.Sleep(1) }`,
			[]string{"TestA"}},
	} {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, "p_test.go", "package p\n"+c.text, parser.SkipObjectResolution)
			require.NoError(t, err)
			found := waiting([]*file{{path: "p_test.go", ast: tree, fset: fset}})
			require.ElementsMatch(t, c.want, slices.Collect(maps.Keys(found)))
		})
	}
}

// waiting returns the declarations among the tests of a package that wait in real time, and where:
// tests that wait outside of every bubble of testing/synctest, and other declarations that wait if
// no test of the package opens a bubble. An exported method belongs to its type. The functions and
// the tables in a test that opens a bubble are taken to be for the bubble.
func waiting(files []*file) map[string]string {
	openers := map[string]bool{"synctest.Test": true}
	for _, f := range files {
		findOpeners(f.ast, openers)
	}
	bubbles := slices.ContainsFunc(files, func(f *file) bool { return calls(f.ast, openers) })
	found := make(map[string]string)
	for _, f := range files {
		for _, d := range f.ast.Decls {
			for name, n := range declared(d) {
				test := isTest.MatchString(name)
				if at := waits(f, n, openers, test); at != "" && (test || !bubbles) {
					found[name] = at + ": " + name
				}
			}
		}
	}
	return found
}

var isTest = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)|^init$`)

// findOpeners finds the functions that pass a function of theirs to synctest.Test: declared ones
// and literals in a variable.
func findOpeners(f *ast.File, openers map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil && opens(n.Type, n.Body) {
				openers[n.Name.Name] = true
			}
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				lit, ok := right.(*ast.FuncLit)
				if name, isName := n.Lhs[i].(*ast.Ident); ok && isName && opens(lit.Type, lit.Body) {
					openers[name.Name] = true
				}
			}
		}
		return true
	})
}

// opens reports whether a function has a parameter that is a function, and opens a bubble.
func opens(typ *ast.FuncType, body *ast.BlockStmt) bool {
	return slices.ContainsFunc(typ.Params.List, func(p *ast.Field) bool {
		_, ok := p.Type.(*ast.FuncType)
		return ok
	}) && calls(body, map[string]bool{"synctest.Test": true})
}

// calls reports whether one of the functions is called in n.
func calls(n ast.Node, functions map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && functions[named(call.Fun)]
		return !found
	})
	return found
}

// named returns what an expression names: a function, a method, or a function of a package.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && (x.Name == "synctest" || x.Name == "time") {
			return x.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

// declared returns what a declaration declares, by name. A method that isn't exported has a dot
// before its name.
func declared(d ast.Decl) map[string]ast.Node {
	found := make(map[string]ast.Node)
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		switch {
		case d.Recv != nil && d.Name.IsExported():
			name = receiver(d.Recv.List[0].Type)
		case d.Recv != nil:
			name = "." + name
		}
		found[name] = d
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				found[spec.Names[0].Name] = spec
			}
		}
	}
	return found
}

// realTime are the names of what waits or polls.
var realTime = []string{"time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
	"Eventually", "EventuallyWithT", "Never"}

// waits returns where n waits outside of bubbles, or "".
func waits(f *file, n ast.Node, openers map[string]bool, test bool) (at string) {
	bubble := test && calls(n, openers)
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !openers[named(n.Fun)]
		case *ast.FuncLit, *ast.CompositeLit:
			return !bubble
		case *ast.SelectorExpr:
			if at == "" && slices.Contains(realTime, named(n)) {
				at = f.fset.Position(n.Pos()).String()
			}
		}
		return true
	})
	return at
}
