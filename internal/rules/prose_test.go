package rules

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	nameInProse = regexp.MustCompile("`\\*?([A-Za-z]+\\.[A-Z][A-Za-z]*)[`(\\[{]")
	// the cells of docs/coming-from.md for other libraries, and of CHANGELOG.md for old names
	theirs = regexp.MustCompile(`(?m)^\| [^|]*\|`)
)

// TestNamesThatPagesMentionExist: readers and coding assistants copy a name from a sentence as they
// do from a program. It looks for names such as Session.Stop and budget.Ledger.
func TestNamesThatPagesMentionExist(t *testing.T) {
	exist := make(map[string]bool) // also packages
	for _, f := range repository(t) {
		if f.ast == nil || f.test() {
			continue
		}
		pkg := f.ast.Name.Name
		exist[pkg] = true
		for _, d := range f.ast.Decls {
			declared := make(map[string][]string)
			declare(declared, d)
			for name := range declared {
				exist[pkg+"."+name] = true
			}
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				exist[receiver(fn.Recv.List[0].Type)+"."+fn.Name.Name] = true
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				for _, member := range namesIn(spec.Type) {
					exist[spec.Name.Name+"."+member.Name] = true
				}
			}
			return true
		})
	}
	found := 0
	for _, page := range append(pages(t), "CHANGELOG.md") {
		text := fenced.ReplaceAllString(textOf(t, page), "")
		if page == "docs/coming-from.md" || page == "CHANGELOG.md" {
			text = theirs.ReplaceAllString(text, "|")
		}
		for _, m := range nameInProse.FindAllStringSubmatch(text, -1) {
			of, _, _ := strings.Cut(m[1], ".")
			if ours := exist[of] || ast.IsExported(of); ours {
				found++
				if !exist[m[1]] && !strings.Contains(m[1], ".Test") {
					t.Errorf("%s: there is no %s", page, m[1])
				}
			}
		}
	}
	require.Greater(t, found, 500)
}

// namesIn returns the names of the fields of a struct, or of the methods of an interface.
func namesIn(e ast.Expr) (names []*ast.Ident) {
	var list []*ast.Field
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields.List
	case *ast.InterfaceType:
		list = e.Methods.List
	}
	for _, f := range list {
		names = append(names, f.Names...)
	}
	return names
}
