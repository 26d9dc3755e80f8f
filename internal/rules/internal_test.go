package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoExportedNameMentionsATypeOfAnInternalPackage: users can neither name such a type nor read
// its comment. An alias is the name that users have for one.
func TestNoExportedNameMentionsATypeOfAnInternalPackage(t *testing.T) {
	checked := 0
	for _, f := range goFiles(t) {
		if f.test() || f.internal() || f.ast.Name.Name == "main" {
			continue
		}
		checked++
		for _, mention := range internalTypes(f) {
			t.Errorf("%s: %s, so users can't name it: give the type an alias, or make the name lower case", f.path, mention)
		}
	}
	require.Greater(t, checked, 300)
}

// TestInternalTypes shows what the rule finds.
func TestInternalTypes(t *testing.T) {
	f := &file{path: "p/p.go", fset: token.NewFileSet()}
	var err error
	f.ast, err = parser.ParseFile(f.fset, f.path, `package p
import (
	"github.com/pawlkit/pawl/p/internal/i"
	other "github.com/pawlkit/pawl/internal/j"
	"github.com/pawlkit/pawl/q"
)
type Alias = i.T
type Func func(i.T)
type Struct struct { Field []other.T; hidden i.T; Fine q.T; i.Embedded }
type Of[T i.T] struct{}
type Sealed interface { sealed(i.T); Open(a i.T) }
type hidden struct { Field i.T }
func Takes(a i.T, b int) {}
func (Struct) Method() (*i.T, error) { var own i.T; return &own, nil }
func (hidden) Method(i.T) {}
func fine(i.T) {}
var Var map[string]i.T
const Const = i.C
var (_ q.T = i.T{}; Value q.T = i.T{})
`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"Func mentions i.T", "Struct mentions other.T", "Struct mentions i.Embedded",
		"Of mentions i.T", "Sealed mentions i.T", "Takes mentions i.T", "Struct mentions i.T", "Var mentions i.T"},
		internalTypes(f))
}

// internalTypes says which exported declarations of a Go file mention types of internal packages.
func internalTypes(f *file) (found []string) {
	internal := make(map[string]bool) // the names under which the file imports such packages
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // it was parsed
		if !strings.HasPrefix(p, module+"/") || !slices.Contains(strings.Split(p, "/"), "internal") {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		internal[name] = true
	}
	look := func(name string, parts ...ast.Node) {
		for _, part := range parts {
			for _, t := range mentioned(part) {
				if x, ok := t.X.(*ast.Ident); ok && internal[x.Name] {
					found = append(found, name+" mentions "+x.Name+"."+t.Sel.Name)
				}
			}
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type)
			}
			if d.Name.IsExported() && ast.IsExported(name) {
				look(name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() && !spec.Assign.IsValid() {
						look(spec.Name.Name, spec.TypeParams, spec.Type)
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
						look(spec.Names[0].Name, spec.Type)
					}
				}
			}
		}
	}
	return found
}

// mentioned returns the names of other packages in a type, without those of a struct's or
// interface's unexported fields and methods.
func mentioned(part ast.Node) (found []*ast.SelectorExpr) {
	if part == nil || part == ast.Expr(nil) || part == (*ast.FieldList)(nil) {
		return nil
	}
	ast.Inspect(part, func(n ast.Node) bool {
		var fields *ast.FieldList
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = append(found, n)
			return false
		case *ast.StructType:
			fields = n.Fields
		case *ast.InterfaceType:
			fields = n.Methods
		default:
			return true
		}
		for _, field := range fields.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
				found = append(found, mentioned(field.Type)...)
			}
		}
		return false
	})
	return found
}
