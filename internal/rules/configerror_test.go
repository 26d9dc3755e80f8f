package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryConfigErrorHasTheSameShape compares the fields and methods of the types of that name, so
// that users learn one shape.
func TestEveryConfigErrorHasTheSameShape(t *testing.T) {
	fields, methods := map[string][]string{}, map[string][]string{}
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && types.ExprString(d.Recv.List[0].Type) == "*ConfigError" {
					methods[f.dir()] = append(methods[f.dir()], d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == "ConfigError" {
						fields[f.dir()] = fieldsOf(s)
					}
				}
			}
		}
	}
	require.NotEmpty(t, fields)
	for pkg := range fields {
		require.Equal(t, []string{"Field string", "Problem string", "Err error"}, fields[pkg], pkg)
		require.Equal(t, []string{"Error", "Fault", "Unwrap"}, slices.Sorted(slices.Values(methods[pkg])), pkg)
	}
}

// fieldsOf returns the fields of a struct, each with its type.
func fieldsOf(s *ast.TypeSpec) (all []string) {
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			all = append(all, name.Name+" "+types.ExprString(f.Type))
		}
	}
	return all
}
