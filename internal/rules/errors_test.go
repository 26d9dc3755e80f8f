package rules

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

const errorsPage = "docs/errors.md"

var (
	errorName = regexp.MustCompile(`<a id="([^"]+)"></a>` + "`([^`]+)`")
	className = regexp.MustCompile(`^fault\.(\w+)$`)
)

// TestEveryErrorHasARow compares the table of the page with the code: each exported error of the
// library has a row, and each row is about one that there is, with its class and whether calls
// that fail with it are retried.
func TestEveryErrorHasARow(t *testing.T) {
	errs := errorsOf(goFiles(t))
	rows := make(map[string]bool)
	for _, row := range errorRows(t) {
		class, retried := row[4], row[5]
		var c fault.Class
		known := c.UnmarshalText([]byte(class)) == nil
		switch retried {
		case "yes", "no":
			require.Equal(t, known && fault.Retryable(c), retried == "yes", row[0])
		default:
			require.Equal(t, "by class", retried, row[0])
			require.False(t, known, row[0])
		}
		names := errorName.FindAllStringSubmatch(row[0], -1)
		require.NotEmpty(t, names, row[0])
		for _, m := range names {
			name := m[1]
			require.Equal(t, name, strings.TrimPrefix(m[2], "*"), "the anchor isn't the name")
			require.False(t, rows[name], "two rows about %s", name)
			rows[name] = true
			want, ok := errs[name]
			if !ok {
				t.Errorf("%s: %s is no error of the library any more: delete its row", errorsPage, name)
			} else if want != "" && want != class {
				t.Errorf("%s: the class of %s is %s, not %s", errorsPage, name, want, class)
			}
		}
	}
	for name := range errs {
		if !rows[name] {
			t.Errorf("%s has no row about %s: when it comes, how to match it, and what to do", errorsPage, name)
		}
	}
}

// errorRows returns the cells of the rows that are about errors.
func errorRows(t *testing.T) (rows [][]string) {
	t.Helper()
	for _, f := range repository(t) {
		if f.path != errorsPage {
			continue
		}
		for line := range strings.Lines(f.text) {
			if strings.HasPrefix(line, "| <a id=") {
				cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				require.Len(t, cells, 6, line)
				rows = append(rows, cells)
			}
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// errorsOf returns the exported errors of the library, as package and name, with their class if the
// declaration says it: types with a method Error, their aliases, and values that begin with Err.
func errorsOf(files []*file) map[string]string {
	errs := make(map[string]string)
	exported := exportsOf(files)
	for _, f := range files {
		names, ok := exported[f.dir()]
		if !ok || f.test() {
			continue
		}
		pkg := path.Base(f.dir()) + "."
		add := func(name, class string) {
			if _, ok := names[name]; ok && errs[pkg+name] == "" {
				errs[pkg+name] = class
			}
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || len(d.Recv.List) != 1 {
					continue
				}
				on := d.Recv.List[0].Type
				if star, ok := on.(*ast.StarExpr); ok {
					on = star.X
				}
				name, _ := on.(*ast.Ident)
				if name == nil {
					continue
				}
				switch d.Name.Name {
				case "Error":
					if d.Type.Params.NumFields() == 0 {
						add(name.Name, "")
					}
				case "Fault":
					if r, ok := d.Body.List[0].(*ast.ReturnStmt); ok {
						add(name.Name, classOf(r.Results[0]))
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec: // an alias of an error
						if s.Assign.IsValid() && strings.HasSuffix(s.Name.Name, "Error") {
							add(s.Name.Name, "")
						}
					case *ast.ValueSpec:
						if strings.HasPrefix(s.Names[0].Name, "Err") && len(s.Values) == 1 {
							add(s.Names[0].Name, madeWith(s.Values[0]))
						}
					}
				}
			}
		}
	}
	return errs
}

// madeWith returns the class of an error that fault.New or fault.NewFixable makes.
func madeWith(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch source(call.Fun) {
	case "fault.New":
		return classOf(call.Args[0])
	case "fault.NewFixable":
		return fault.UserFixable.String()
	}
	return ""
}

// classOf returns the text of a constant of package fault, and "" for any other expression.
func classOf(e ast.Expr) string {
	m := className.FindStringSubmatch(source(e))
	if m == nil {
		return ""
	}
	for c := fault.None; c.String() != ""; c++ {
		if strings.EqualFold(strings.ReplaceAll(c.String(), "_", ""), m[1]) {
			return c.String()
		}
		if c > fault.Denied {
			break
		}
	}
	return ""
}

// source returns a selector as text.
func source(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return x.Name + "." + s.Sel.Name
}
