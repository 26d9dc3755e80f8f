package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
)

// checked is a package that was type-checked, without its tests.
type checked struct {
	types *types.Package
	fset  *token.FileSet
	files []string // without their folder
	uses  map[*ast.Ident]types.Object
}

// check type-checks a package of the repository. It runs the go command, which compiles what the
// package imports.
func check(root, pkg string, files []*file) (*checked, error) {
	exports, err := exportData(root, pkg)
	if err != nil {
		return nil, err
	}
	return checkWith(exports, pkg, files)
}

// checkWith is check with the export data of what the package imports.
func checkWith(exports map[string]string, pkg string, files []*file) (p *checked, err error) {
	p = &checked{uses: make(map[*ast.Ident]types.Object)}
	var parsed []*ast.File
	for _, f := range code(files) {
		if f.dir() == pkg {
			p.fset, p.files, parsed = f.fset, append(p.files, path.Base(f.path)), append(parsed, f.ast)
		}
	}
	open := func(importPath string) (io.ReadCloser, error) { return os.Open(exports[importPath]) }
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", open)}
	p.types, err = config.Check(module+"/"+pkg, p.fset, parsed, &types.Info{Uses: p.uses})
	return p, err
}

// fileOf returns the file of a position, without its folder.
func (p *checked) fileOf(pos token.Pos) string { return path.Base(p.fset.Position(pos).Filename) }

// exportData returns where the go command put the export data of the packages that pkgs import, by
// import path.
func exportData(root string, pkgs ...string) (map[string]string, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, pkg := range pkgs {
		args = append(args, "./"+pkg)
	}
	cmd := exec.Command("go", args...) //nolint:gosec // packages of this repository
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return nil, fmt.Errorf("rules: go list: %w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("rules: go list: %w", err)
	}
	found := make(map[string]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("rules: go list: %w", err)
		}
		found[p.ImportPath] = p.Export
	}
}
