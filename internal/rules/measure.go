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

const (
	maxLines  = 400 // of a file that is not a test, with comments and blank lines
	maxFields = 20  // of a struct
)

// An exception is a struct that may have more than maxFields fields.
type exception struct {
	fields int // today; it may only shrink
	why    string
}

// largeStructs are the exceptions, by package and name.
var largeStructs = map[string]exception{
	"agent.Config":             {25, "a configuration: one field for each setting"},
	"agent.Input":              {33, "what a run is asked: one field for each setting"},
	"agent/machine.Limits":     {21, "a configuration: one field for each limit"},
	"agent/machine.RunStarted": {27, "a fact: what an input has set"},
	"agent/machine.Pause":      {23, "what is to be decided, as it is stored and shown: plain data"},
	"agent/machine.Result":     {25, "what a host reads of a run: plain data"},
	"agent/machine.State":      {21, "what facts add up to: plain data, saved whole in snapshots"},
	"agent/machine.RunState": {49,
		"the state of a run, which facts are folded into: plain data, saved whole in snapshots"},
	"agent.sessionLog":            {21, "a session that is held: what its driver, its calls and its events share"},
	"tools.Call":                  {23, "a call, as its tool, policies and hooks see it: plain data and functions"},
	"agent/plan.State":            {21, "what the facts of a run of plans add up to"},
	"agent/plan.NodeState":        {21, "the state of a node, as hosts see it: plain data"},
	"provider/openai.chatRequest": {21, "the body of a request: one field for each member"},
	"tools.Spec":                  {30, "a configuration: one field for each setting"},
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
