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
	"agent..slow": "only tests in bubbles call it; other tests have it in their fixture",
	"agent/internal/durable": "its processes share only a store, each looks there for what the others do, and they " +
		"are killed at random moments",
	"agent/internal/stops":               "its scenarios are values, which only its bubbles run",
	"agent/plan..rest":                   "only tests in bubbles set how long a call takes",
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
	"internal/storm": "a server on loopback is slow for milliseconds, as the in-memory one is for seconds",
	"memory/sqlmemory.TestASlowWriterIsWaitedFor": "SQLite gives no sign that it waits for a lock",
	"tools/process.ignore":                        "it is a process that ends only when it is killed",
	"tools/process.late":                          "it is a process that writes after the end of its parent",
	"tools/process.ticks": "it is a process that writes at intervals, against a time limit " +
		"in real time",
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
		"a method unused": {`type a int; func (a) wait() { time.Sleep(1) }; func TestA(t T) { use(a(1)) }`, nil},
		"a value":         {`func TestA(t T) { use(time.Sleep) }`, []string{"TestA"}},
		"a namesake": {
			`func wait() { time.Sleep(1) }; type a int; func (a) wait() {}; func TestA(t T) { a(1).wait() }`, nil},
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
// those that wait outside of every bubble of testing/synctest, and that a test reaches outside of
// every bubble too. Names are enough to tell: a test reaches what it names and what that names; two
// declarations of one name count as one, and an exported method belongs to its type. The
// functions and the tables in a test that opens a bubble are taken to be for the bubble.
func waiting(files []*file) map[string]string {
	w := &waits{openers: map[string]bool{"synctest.Test": true}, at: make(map[string]string),
		names: make(map[string]map[string]bool)}
	for _, f := range files {
		w.findOpeners(f.ast)
	}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			w.add(f, d)
		}
	}
	found, seen := make(map[string]string), make(map[string]bool)
	var reach func(test, name string)
	reach = func(test, name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if at := w.at[name]; at != "" {
			found[name] = at + ": " + name + ", which " + test + " reaches,"
		}
		for n := range w.names[name] {
			reach(test, n)
		}
	}
	for name := range w.names {
		if isTest.MatchString(name) {
			reach(name, name)
		}
	}
	return found
}

var isTest = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)|^init$`)

// waits are the declarations of a package's tests.
type waits struct {
	openers map[string]bool            // the functions that run a function in a bubble
	at      map[string]string          // by declaration: where it waits
	names   map[string]map[string]bool // by declaration: the names in it, outside of every bubble
}

// findOpeners finds the functions that pass a function of theirs to synctest.Test: declared ones
// and literals in a variable.
func (w *waits) findOpeners(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil && opens(n.Type, n.Body) {
				w.openers[n.Name.Name] = true
			}
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				lit, ok := right.(*ast.FuncLit)
				if name, isName := n.Lhs[i].(*ast.Ident); ok && isName && opens(lit.Type, lit.Body) {
					w.openers[name.Name] = true
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

// add notes what a declaration has outside of bubbles.
func (w *waits) add(f *file, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		switch {
		case d.Recv != nil && d.Name.IsExported():
			name = receiver(d.Recv.List[0].Type)
		case d.Recv != nil:
			name = "." + name
		}
		w.note(f, name, d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				w.note(f, spec.Name.Name, spec.Type)
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					for _, v := range spec.Values {
						w.note(f, n.Name, v)
					}
				}
			}
		}
	}
}

// realTime are the names of what waits or polls.
var realTime = []string{"time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
	"Eventually", "EventuallyWithT", "Never"}

// note notes the waits and the names in n, outside of bubbles. A method's name has a dot before.
func (w *waits) note(f *file, name string, n ast.Node) {
	if w.names[name] == nil {
		w.names[name] = make(map[string]bool)
	}
	bubble := isTest.MatchString(name) && calls(n, w.openers)
	local := locals(n)
	own, _ := n.(*ast.FuncDecl)
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !w.openers[named(n.Fun)]
		case *ast.FuncLit, *ast.CompositeLit:
			return !bubble
		case *ast.KeyValueExpr: // a field isn't what it names
			if _, field := n.Key.(*ast.Ident); field {
				ast.Inspect(n.Value, visit)
				return false
			}
		case *ast.SelectorExpr:
			if slices.Contains(realTime, named(n)) && w.at[name] == "" {
				w.at[name] = f.fset.Position(n.Pos()).String()
			}
			w.names[name]["."+n.Sel.Name] = true
			ast.Inspect(n.X, visit)
			return false
		case *ast.Ident:
			if !local[n.Name] && (own == nil || n != own.Name) {
				w.names[name][n.Name] = true
			}
		}
		return true
	}
	ast.Inspect(n, visit)
}

// locals returns the names that are declared within n.
func locals(n ast.Node) map[string]bool {
	found := make(map[string]bool)
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			found[id.Name] = true
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					note(e)
				}
			}
		case *ast.RangeStmt:
			note(n.Key)
			note(n.Value)
		case *ast.Field:
			for _, id := range n.Names {
				note(id)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				note(id)
			}
		}
		return true
	})
	return found
}
