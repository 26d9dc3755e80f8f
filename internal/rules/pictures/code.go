package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A table says which stage each fact leads to.
type table struct {
	stages []string
	facts  []string
	cells  map[string]map[string]string // by fact and stage
}

// readTable reads the table of transitions in the comment of package machine. A test there checks
// it against the machine.
func readTable(root string) (*table, error) {
	text, err := os.ReadFile(filepath.Join(root, "agent", "machine", "doc.go"))
	if err != nil {
		return nil, err
	}
	t := &table{cells: make(map[string]map[string]string)}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(strings.Replace(line, "no run", "no_run", 1))
		switch {
		case len(f) > 2 && f[0] == "//" && f[1] == "fact" && f[2] == "no_run":
			t.stages = f[2:]
		case t.stages != nil && len(f) == len(t.stages)+2:
			row := make(map[string]string)
			for i, s := range t.stages {
				row[s] = f[i+2]
			}
			t.facts = append(t.facts, f[1])
			t.cells[f[1]] = row
		case t.stages != nil && len(t.facts) > 0:
			return t, nil
		}
	}
	return nil, fmt.Errorf("agent/machine/doc.go has no table of transitions")
}

// between returns the facts that lead from one stage to another.
func (t *table) between(from, to string) (facts []string) {
	for _, fact := range t.facts {
		if slices.Contains(strings.Split(t.cells[fact][from], "/"), to) {
			facts = append(facts, fact)
		}
	}
	return facts
}

// stageComments returns what the constants of the stages say, by their values.
func stageComments(root string) (map[string]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "agent", "machine", "state.go"), nil,
		parser.ParseComments)
	if err != nil {
		return nil, err
	}
	comments := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Comment == nil || !strings.HasPrefix(spec.Names[0].Name, "Stage") {
			return true
		}
		if value, ok := spec.Values[0].(*ast.BasicLit); ok {
			name, err := strconv.Unquote(value.Value)
			if err == nil {
				comments[name] = strings.TrimSpace(spec.Comment.Text())
			}
		}
		return true
	})
	return comments, nil
}

// callsOf returns what a method of provider/guard's call calls, in the order of the source. Methods
// of the call are replaced by what they call.
func callsOf(root, method string) (calls []string, err error) {
	files, err := filepath.Glob(filepath.Join(root, "provider", "guard", "*.go"))
	if err != nil {
		return nil, err
	}
	methods := make(map[string]*ast.FuncDecl)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && len(fn.Recv.List[0].Names) == 1 &&
				fn.Recv.List[0].Names[0].Name == "c" {
				methods[fn.Name.Name] = fn
			}
		}
	}
	var visit func(name string, depth int)
	visit = func(name string, depth int) {
		ast.Inspect(methods[name].Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch on := sel.X.(type) {
			case *ast.Ident: // c.queue()
				if on.Name == "c" && methods[sel.Sel.Name] != nil && depth < 3 {
					visit(sel.Sel.Name, depth+1)
				}
			case *ast.SelectorExpr: // g.breaker.Ready()
				calls = append(calls, on.Sel.Name+"."+sel.Sel.Name)
			}
			return true
		})
	}
	if methods[method] == nil {
		return nil, fmt.Errorf("provider/guard has no method %s of a call", method)
	}
	visit(method, 0)
	return calls, nil
}
