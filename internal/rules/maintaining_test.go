package rules

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	goFileName = regexp.MustCompile(`\b\w+\.go\b`)
	ofAgent    = regexp.MustCompile("`((?:Agent|Input|Session|Hooks|Limits|[a-z]\\w*)\\.\\w+)`")
)

// TestThePageForMaintainersNamesWhatExists: the files of package agent that the page names, and the
// methods and fields of its types.
func TestThePageForMaintainersNamesWhatExists(t *testing.T) {
	var page string
	exists, packages := make(map[string]bool), make(map[string]bool)
	for _, f := range repository(t) {
		packages[f.dir()[strings.LastIndexByte(f.dir(), '/')+1:]] = true
		switch {
		case f.path == "docs/maintaining.md":
			page = f.text
		case f.ast == nil || f.test() || f.dir() != "agent":
		default:
			exists[strings.TrimPrefix(f.path, "agent/")] = true
			for _, d := range f.ast.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv != nil {
						exists[receiver(d.Recv.List[0].Type)+"."+d.Name.Name] = true
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if spec, ok := spec.(*ast.TypeSpec); ok {
							if s, ok := spec.Type.(*ast.StructType); ok {
								for _, field := range s.Fields.List {
									for _, name := range field.Names {
										exists[spec.Name.Name+"."+name.Name] = true
									}
								}
							}
						}
					}
				}
			}
		}
	}
	checked := 0
	for _, file := range goFileName.FindAllString(page, -1) {
		checked++
		require.True(t, exists[file], "package agent has no file %s", file)
	}
	for _, m := range ofAgent.FindAllStringSubmatch(page, -1) {
		if of, _, _ := strings.Cut(m[1], "."); !packages[of] {
			checked++
			require.True(t, exists[m[1]], "package agent has no %s", m[1])
		}
	}
	require.GreaterOrEqual(t, checked, 10, "the page names too little")
}
