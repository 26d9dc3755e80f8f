package rules

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
)

// core are the packages that drive a run. One that doesn't exist has no lines.
var core = []string{"agent", "agent/internal/due", "agent/internal/output", "agent/internal/session", "agent/machine",
	"agent/notes", "agent/stop"}

// Sizes of files that aren't tests, and of structs. What is above the first figure of a pair is
// printed by [Sizes], what is above the second fails.
const (
	manyLines, mostLines   = 400, 600 // of a file, with comments and blank lines
	manyFields, mostFields = 24, 40   // of a struct
)

// largeStructs says why a struct may have more than mostFields fields, by package and name.
var largeStructs = map[string]string{
	"agent/machine.RunState": "the state of a run, which facts are folded into: plain data, saved whole in snapshots",
}

// lines returns how many lines a file has.
func (f *file) lines() int { return strings.Count(f.text, "\n") }

// codeLines returns how many lines of a Go file have code on them: lines with nothing but space or
// a comment don't count.
func (f *file) codeLines() int {
	src := []byte(f.text)
	pos := token.NewFileSet().AddFile(f.path, -1, len(src))
	var s scanner.Scanner
	s.Init(pos, src, nil, 0) // skips comments
	counted, last := 0, 0
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return counted
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // inserted at the end of a line
		}
		first := pos.Line(at)
		for line := max(first, last+1); line <= first+strings.Count(text, "\n"); line++ {
			counted, last = counted+1, line
		}
	}
}

// A structType is a struct that a file declares.
type structType struct {
	name   string // with its package, for example agent.Config
	path   string
	fields int
}

// structs returns the named structs of a Go file, those inside functions too. An embedded type
// counts as one field.
func (f *file) structs() []structType {
	var out []structType
	ast.Inspect(f.ast, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			out = append(out, structType{f.dir() + "." + spec.Name.Name, f.path, s.Fields.NumFields()})
		}
		return true
	})
	return out
}

// exported returns how many names a Go file exports: the identifiers of its package, and the
// methods of exported types. An alias counts as one, whatever methods its type has.
func (f *file) exported() int {
	n := 0
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					count(spec.Name)
				case *ast.ValueSpec:
					count(spec.Names...)
				}
			}
		}
	}
	return n
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
