package rules

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// An enumeration is what a package declares as the constants of a type.
type enumeration struct {
	dir, typ string
	names    []string
	texts    []string // of constants that are strings: the name and the value
}

// enumerations returns the constants of exported types that hosts can name.
func enumerations(files []*file) (all []*enumeration) {
	for _, f := range files {
		if !f.library() || f.test() || strings.Contains("/"+f.path, "/internal/") {
			continue
		}
		for _, decl := range f.ast.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			typ := ""
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if own, ok := v.Type.(*ast.Ident); ok {
					typ = own.Name
				} else if v.Type != nil || len(v.Values) > 0 {
					typ = ""
				}
				if !ast.IsExported(typ) {
					continue
				}
				i := slices.IndexFunc(all, func(e *enumeration) bool { return e.dir == f.dir() && e.typ == typ })
				if i < 0 {
					i, all = len(all), append(all, &enumeration{dir: f.dir(), typ: typ})
				}
				for n, name := range v.Names {
					all[i].names = append(all[i].names, name.Name)
					if n >= len(v.Values) {
						continue
					}
					if text, ok := v.Values[n].(*ast.BasicLit); ok && text.Kind == token.STRING {
						all[i].texts = append(all[i].texts, name.Name+" "+text.Value)
					}
				}
			}
		}
	}
	return all
}
