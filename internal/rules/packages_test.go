package rules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// withoutExample are packages that can't have an example with an output, and why.
var withoutExample = map[string]string{
	"examples/cms":             "a program: the README runs it",
	"examples/gate":            "a program: the README runs it",
	"examples/chat":            "a program: its test runs it",
	"cmd/pawl":                 "a program: its test runs it",
	"examples/worker":          "a program: the README runs it",
	"internal/rules":           "its one function prints figures that change with every commit",
	"internal/rules/sizes":     "a program: go run ./internal/rules/sizes",
	"internal/rules/pictures":  "a program: go run ./internal/rules/pictures",
	"internal/retry":           "a program: .ci/run runs it",
	"agent/internal/durable":   "tests only",
	"agent/internal/stops":     "tests only",
	"internal/desk":            "tests only",
	"agent/internal/doors":     "tests only",
	"provider/internal/replay": "tests only",
	"internal/sim":             "tests only",
	"internal/storm":           "tests only",
	"internal/features":        "its functions take a *testing.T; doc.go shows its use",
	"internal/wirecases":       "tests only",
	"internal/compat":          "tests only",
	"internal/sqljournal":      "works on a database that its two users bring; their examples show it",
	"internal/sqlrecall":       "works on a database that its two users bring; their examples show it",
	"internal/pgpool":          "needs a server; its users' tests run it",
	"agent/journal/postgres":   "needs a server; its example has no output",
	"memory/pgmemory":          "needs a server; its example has no output",

	"internal/sqlrecall/scopetest": "its one function takes a *testing.T; doc.go shows its use",

	pgtest: "its one function takes a testing.TB, which no example has; doc.go shows its use",
	wire:   "its functions take a *testing.T; doc.go shows its use",
	"ratelimit/allowancetest": "its one function takes a *testing.T, which no example has; suite_test.go shows " +
		"its use",
	journaltest: "its one function takes a *testing.T, which no example has; suite_test.go shows its use",

	"agent/internal/transcripts": "tests only",

	"examples/tutorial/1-model":      "a program: the tutorial runs it",
	"examples/tutorial/2-tool":       "a program: the tutorial runs it",
	"examples/tutorial/3-stream":     "a program: the tutorial runs it",
	"examples/tutorial/4-approval":   "a program: the tutorial runs it",
	"examples/tutorial/5-store":      "a program: the tutorial runs it",
	"examples/tutorial/6-page":       "a program: the tutorial runs it",
	"examples/tutorial/7-budget":     "a program: the tutorial runs it",
	"examples/tutorial/8-deployment": "a program: the tutorial runs it",
	"examples/tutorial/desk":         "a model for the programs of the tutorial, which show it",
}

// TestEveryPackageSaysWhatItIsFor wants a doc.go with the package comment, and no second one.
func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	documented := make(map[string]bool)
	for _, f := range goFiles(t) {
		pkg := f.dir()
		if _, ok := documented[pkg]; !ok {
			documented[pkg] = false
		}
		if f.ast.Doc == nil || f.test() {
			continue
		}
		if !strings.HasSuffix("/"+f.path, "/doc.go") && f.ast.Name.Name != "main" {
			t.Errorf("%s has the package comment, which belongs in doc.go", f.path)
		}
		want := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			want = ""
		}
		documented[pkg] = strings.HasPrefix(f.ast.Doc.Text(), want)
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc.go whose comment begins with \"Package …\"", pkg)
		}
	}
}

// TestEveryPackageIsShownInUse wants an example with an output, which go test runs and compares.
func TestEveryPackageIsShownInUse(t *testing.T) {
	shown := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.nested() {
			continue
		}
		shown[f.dir()] = shown[f.dir()] || strings.HasSuffix("/"+f.path, "/example_test.go") && hasOutput(f.ast)
	}
	for pkg, ok := range shown {
		if _, excepted := withoutExample[pkg]; !ok && !excepted {
			t.Errorf("%s has no example_test.go with an example that ends in // Output:", pkg)
		}
	}
}

func hasOutput(f *ast.File) bool {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		for _, c := range f.Comments {
			if fn.Body.Pos() < c.Pos() && c.End() < fn.Body.End() &&
				strings.HasPrefix(strings.TrimSpace(c.Text()), "Output:") {
				return true
			}
		}
	}
	return false
}

// TestEveryExportedNameHasAComment wants a comment that begins with the name. In a group of
// constants or variables the comment of the group or of the line will do.
func TestEveryExportedNameHasAComment(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test() || f.internal() || f.ast.Name.Name == "main" {
			continue
		}
		missing := func(n *ast.Ident, doc *ast.CommentGroup) {
			if n.IsExported() && !beginsWith(doc, n.Name) {
				t.Errorf("%s: %s has no comment that begins with its name", f.fset.Position(n.Pos()), n.Name)
			}
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
					missing(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						doc := spec.Doc
						if doc == nil && !d.Lparen.IsValid() {
							doc = d.Doc
						}
						missing(spec.Name, doc)
					case *ast.ValueSpec:
						if d.Lparen.IsValid() && (d.Doc != nil || spec.Doc != nil || spec.Comment != nil) {
							continue
						}
						for _, n := range spec.Names {
							missing(n, d.Doc)
						}
					}
				}
			}
		}
	}
}

// beginsWith reports whether a comment begins with name, or with an article and name.
func beginsWith(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && strings.TrimRight(words[0], ",:") == name
}
