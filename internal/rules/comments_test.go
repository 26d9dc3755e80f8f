package rules

import (
	"go/ast"
	"strings"
	"testing"
)

// TestCommentsInStructsAreShown: go doc leaves out a comment that no field follows at once.
func TestCommentsInStructsAreShown(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.library() || f.test() || strings.Contains("/"+f.path, "/internal/") {
			continue
		}
		shown := map[*ast.CommentGroup]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				shown[field.Doc], shown[field.Comment] = true, true
			}
			return true
		})
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok || !typ.Name.IsExported() {
					continue
				}
				s, ok := typ.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, c := range f.ast.Comments {
					if c.Pos() > s.Fields.Opening && c.End() < s.Fields.Closing && !shown[c] {
						t.Errorf("%s:%d: go doc doesn't show this comment; write it directly above a field, in one paragraph of "+
							"its comment", f.path, f.fset.Position(c.Pos()).Line)
					}
				}
			}
		}
	}
}
