package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// library reports whether the file belongs to what users import from the main module.
func (f *file) library() bool {
	return f.ast != nil && !f.nested() && !slices.ContainsFunc([]string{"examples/", "internal/", "cmd/"},
		func(dir string) bool { return strings.HasPrefix(f.path, dir) })
}

// shows reports whether the file counts as a user of the names of other packages: code outside of
// tests, examples that go test runs, and pages. The packages for tests of this repository don't.
func (f *file) shows() bool {
	switch {
	case strings.HasSuffix(f.path, ".md"):
		return f.path != "CHANGELOG.md" && f.path != "docs/errors.md" // it lists all errors
	case f.ast == nil || strings.HasPrefix(f.path, "internal/"):
		return false
	}
	name := path.Base(f.path)
	return !f.test() || strings.HasPrefix(name, "example") || strings.HasSuffix(name, "_example_test.go") ||
		strings.HasPrefix(f.path, "docs/")
}

// exports holds the exported top-level names of the library's packages that users can import, by
// package, and for each what its declaration names of its own package: what a user of the name
// meets, too.
type exports map[string]map[string][]string

func exportsOf(files []*file) exports {
	all := make(exports)
	for _, f := range files {
		if !f.library() || f.test() || strings.Contains("/"+f.path, "/internal/") || f.ast.Name.Name == "main" {
			continue
		}
		declared := all[f.dir()]
		if declared == nil {
			declared = make(map[string][]string)
			all[f.dir()] = declared
		}
		for _, d := range f.ast.Decls {
			declare(declared, d)
		}
	}
	return all
}

// declare adds what a declaration exports.
func declare(declared map[string][]string, d ast.Decl) {
	add := func(name string, parts ...ast.Node) {
		if ast.IsExported(name) {
			declared[name] = append(declared[name], exportedIn(parts)...)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv == nil:
			add(d.Name.Name, d.Type)
		case d.Name.IsExported(): // a user of the type meets what its methods name
			add(receiver(d.Recv.List[0].Type), d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name.Name, spec.Type)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add(name.Name, spec.Type)
				}
			}
		}
	}
}

// exportedIn returns the exported names of types, without those of a struct's unexported fields.
func exportedIn(parts []ast.Node) (found []string) {
	for _, part := range parts {
		if part == nil || part == ast.Expr(nil) {
			continue
		}
		_, fields := part.(*ast.StructType)
		ast.Inspect(part, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				return !fields || len(n.Names) == 0 || slices.ContainsFunc(n.Names, (*ast.Ident).IsExported)
			case *ast.SelectorExpr:
				return false // of another package
			case *ast.Ident:
				if n.IsExported() {
					found = append(found, n.Name)
				}
			}
			return true
		})
	}
	return found
}

// mention matches a name of a package in a page, such as agent.Config.
var mention = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)`)

// unused returns, sorted, the names of each package that nobody uses: no other package of the
// library, no example, no program of the repository and no page names one, and no declaration that
// somebody uses names it. A page may mean any package of a name. An enumeration counts as its type.
func (n exports) unused(files []*file) map[string][]string {
	used := make(map[string]map[string]bool) // by package
	for pkg := range n {
		used[pkg] = make(map[string]bool)
	}
	byName := make(map[string][]string)
	for pkg := range n {
		byName[path.Base(pkg)] = append(byName[path.Base(pkg)], pkg)
	}
	for _, f := range files {
		if !f.shows() {
			continue
		}
		if f.ast == nil {
			for _, m := range mention.FindAllStringSubmatch(f.text, -1) {
				for _, pkg := range byName[m[1]] {
					n.use(pkg, m[2], used[pkg])
				}
			}
			continue
		}
		for pkg, name := range f.selected() {
			if n[pkg] != nil {
				n.use(pkg, name, used[pkg])
			}
		}
	}
	for _, e := range enumerations(files) {
		for _, name := range e.names {
			used[e.dir][name] = true
		}
	}
	out := make(map[string][]string)
	for pkg, declared := range n {
		for _, name := range slices.Sorted(maps.Keys(declared)) {
			if !used[pkg][name] {
				out[pkg] = append(out[pkg], name)
			}
		}
	}
	return out
}

// use marks a name and what its declaration names.
func (n exports) use(pkg, name string, used map[string]bool) {
	parts, ok := n[pkg][name]
	if !ok || used[name] {
		return
	}
	used[name] = true
	for _, part := range parts {
		n.use(pkg, part, used)
	}
}

// selected yields the packages of this repository and their names that a Go file selects, by the
// names under which the file imports them.
func (f *file) selected() func(yield func(pkg, name string) bool) {
	imports := make(map[string]string)
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		pkg, ours := strings.CutPrefix(p, module+"/")
		if err != nil || !ours {
			continue
		}
		name := path.Base(pkg)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = pkg
	}
	return func(yield func(pkg, name string) bool) {
		ast.Inspect(f.ast, func(node ast.Node) bool {
			s, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
				return yield(imports[x.Name], s.Sel.Name)
			}
			return true
		})
	}
}

// Names prints the packages of the library with their code lines, how many top-level names each
// exports and how many of these nobody uses, and with list which ones.
func Names(w io.Writer, root string, list bool) error {
	files, err := read(root)
	if err != nil {
		return err
	}
	return printNames(w, files, list)
}

func printNames(w io.Writer, files []*file, list bool) error {
	all, lines := exportsOf(files), make(map[string]int)
	unused := all.unused(files)
	total, exported, without := 0, 0, 0
	for _, f := range code(files) {
		if f.library() {
			n := f.codeLines()
			lines[f.dir()], total = lines[f.dir()]+n, total+n
		}
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "library\tcode lines\texported names\twithout a user\n")
	for _, pkg := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\n", pkg, lines[pkg], len(all[pkg]), len(unused[pkg]))
		exported, without = exported+len(all[pkg]), without+len(unused[pkg])
	}
	fmt.Fprintf(tab, "total\t%d\t%d\t%d\n", total, exported, without)
	if err := tab.Flush(); err != nil || !list {
		return err
	}
	for _, pkg := range slices.Sorted(maps.Keys(unused)) {
		fmt.Fprintf(w, "\n%s\n  %s\n", pkg, strings.Join(unused[pkg], "\n  "))
	}
	return nil
}
