package rules

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	goFileName = regexp.MustCompile(`[\w/]+\.go\b`)
	inCode     = regexp.MustCompile("`([A-Za-z]\\w*(?:\\.\\w+)?)`")
	testNamed  = regexp.MustCompile(`\bTest[A-Z]\w+`)
)

// TestThePageForMaintainersNamesWhatExists: files, by their paths or of package agent, tests, and
// what is declared, with the methods and fields of types.
func TestThePageForMaintainersNamesWhatExists(t *testing.T) {
	var page string
	exists := make(map[string]bool)
	declare := func(name string) { exists[name] = true }
	for _, f := range repository(t) {
		exists[f.path] = true
		exists[f.dir()[strings.LastIndexByte(f.dir(), '/')+1:]+"."] = true // a package
		if f.path == "docs/maintaining.md" {
			page = f.text
		}
		if f.dir() == "agent" {
			exists[strings.TrimPrefix(f.path, "agent/")] = true
		}
		if f.ast == nil {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declare(d.Name.Name)
				if d.Recv != nil {
					declare(receiver(d.Recv.List[0].Type) + "." + d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declare(name.Name)
						}
					case *ast.TypeSpec:
						declare(spec.Name.Name)
						if s, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range s.Fields.List {
								for _, name := range field.Names {
									declare(spec.Name.Name + "." + name.Name)
								}
							}
						}
					}
				}
			}
		}
	}
	files := goFileName.FindAllString(page, -1)
	for _, file := range files {
		assert.True(t, exists[file], "there is no file %s; those outside of package agent have their whole path", file)
	}
	tests := testNamed.FindAllString(page, -1)
	for _, name := range tests {
		assert.True(t, exists[name], "there is no test %s", name)
	}
	names := inCode.FindAllStringSubmatch(page, -1)
	for _, m := range names {
		of, name, member := strings.Cut(m[1], ".")
		if member && exists[of+"."] { // of a package
			assert.True(t, exists[name], "package %s has no %s", of, name)
		} else if m[1] != "omitempty" && m[1] != "slices.Clip" {
			assert.True(t, exists[m[1]], "there is no %s", m[1])
		}
	}
	require.Greater(t, len(files), 80, "the page names too little")
	require.Greater(t, len(tests), 15, "the page names too little")
	require.Greater(t, len(names), 80, "the page names too little")
}
