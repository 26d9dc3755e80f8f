package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// module is the path of the repository's own module.
const module = "github.com/pawlkit/pawl"

// nested are the modules with dependencies of their own.
var nested = []string{"agent/work/river", "agent/work/temporal", "examples/worker/river", "internal/bench",
	"internal/browser", "internal/otlp", "internal/tools", "internal/wirediff", "provider/bedrock", "provider/vertex"}

// A file is a text file of the repository.
type file struct {
	path string // from the root, with slashes
	text string
	ast  *ast.File // of Go files outside of testdata
	fset *token.FileSet
}

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// nested reports whether the file belongs to a nested module.
func (f *file) nested() bool {
	return slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(f.path, dir+"/") })
}

// internal reports whether the file is outside of what users import.
func (f *file) internal() bool {
	return strings.HasPrefix(f.path, "examples/") || strings.Contains("/"+f.path, "/internal/")
}

// read returns the text files of the repository whose root is given, in the order of their paths.
func read(root string) ([]*file, error) {
	var files []*file
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == "bin" || d.Name() == "node_modules" || rel == "internal/browser/out" {
				return fs.SkipDir
			}
			return nil
		}
		if rel == ".git" { // of a worktree
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || bytes.IndexByte(text, 0) >= 0 { // a binary file
			return err
		}
		f := &file{path: rel, text: string(text), fset: fset}
		if strings.HasSuffix(rel, ".go") && !strings.Contains(rel, "/testdata/") {
			if f.ast, err = parser.ParseFile(fset, rel, text,
				parser.ParseComments|parser.SkipObjectResolution); err != nil {
				return err
			}
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// code returns the Go files of the given files, without tests.
func code(files []*file) []*file {
	var out []*file
	for _, f := range files {
		if f.ast != nil && !f.test() {
			out = append(out, f)
		}
	}
	return out
}
