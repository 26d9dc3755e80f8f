package rules

import (
	"cmp"
	"fmt"
	"go/types"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// measured are the packages whose code Sizes counts.
var measured = []string{"agent", "agent/internal/history", "agent/machine", "tools", "internal/schema"}

// Sizes prints how large the repository is whose root is given: code lines (lines that aren't blank
// and aren't only a comment, outside of tests) of the central packages and of the core, the large
// files and structs, the types of package agent with most methods, the exported names, and the
// cycles of references between the files of agent. It runs the go command.
func Sizes(w io.Writer, root string) error {
	files, err := read(root)
	if err != nil {
		return err
	}
	agent, err := check(root, "agent", files)
	if err != nil {
		return err
	}
	return printSizes(w, files, agent)
}

// printSizes is Sizes for the files of a repository and its type-checked package agent.
func printSizes(w io.Writer, files []*file, agent *checked) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	all := code(files)
	printPackages(tab, all)
	exported := 0
	for _, declared := range exportsOf(files) {
		exported += len(declared)
	}
	fmt.Fprintf(tab, "\ntop-level names that the library exports\t%d\n", exported)
	printFiles(tab, all)
	printStructs(tab, all)
	printMethods(tab, agent)
	printCycles(tab, referencesOf(agent))
	return tab.Flush()
}

func printPackages(w io.Writer, files []*file) {
	fmt.Fprint(w, "package\tcode lines\tfiles\texported names\n")
	for _, pkg := range measured {
		lines, n, exported := 0, 0, 0
		for _, f := range files {
			if f.dir() == pkg {
				lines, n, exported = lines+f.codeLines(), n+1, exported+f.exported()
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", pkg, lines, n, exported)
	}
	lines, n := 0, 0
	for _, f := range files {
		if slices.Contains(core, f.dir()) {
			lines, n = lines+f.codeLines(), n+1
		}
	}
	fmt.Fprintf(w, "the core (%s)\t%d\t%d\n", strings.Join(core, ", "), lines, n)
}

func printFiles(w io.Writer, files []*file) {
	files = slices.SortedStableFunc(slices.Values(files), func(a, b *file) int {
		return cmp.Compare(b.lines(), a.lines())
	})
	fmt.Fprintf(w, "\nfiles of more than %d lines (at most %d)\tlines\tcode lines\n", manyLines, mostLines)
	for _, f := range files {
		if f.lines() > manyLines {
			fmt.Fprintf(w, "%s\t%d\t%d\n", f.path, f.lines(), f.codeLines())
		}
	}
}

func printStructs(w io.Writer, files []*file) {
	var large []structType
	for _, f := range files {
		for _, s := range f.structs() {
			if s.fields > manyFields {
				large = append(large, s)
			}
		}
	}
	slices.SortStableFunc(large, func(a, b structType) int { return cmp.Compare(b.fields, a.fields) })
	fmt.Fprintf(w, "\nstructs of more than %d fields (at most %d)\tfields\n", manyFields, mostFields)
	for _, s := range large {
		fmt.Fprintf(w, "%s\t%d\n", s.name, s.fields)
	}
}

// printMethods prints the ten types of a package with most methods, without those of embedded
// types.
func printMethods(w io.Writer, p *checked) {
	methods := make(map[string]int)
	for _, name := range p.types.Scope().Names() {
		if t, ok := p.types.Scope().Lookup(name).(*types.TypeName); ok && !t.IsAlias() {
			if named, ok := t.Type().(*types.Named); ok {
				methods[name] = named.NumMethods()
			}
		}
	}
	fmt.Fprintf(w, "\ntypes of %s with most methods\tmethods\n", p.types.Name())
	most := slices.SortedFunc(maps.Keys(methods), func(a, b string) int {
		return cmp.Or(cmp.Compare(methods[b], methods[a]), cmp.Compare(a, b))
	})
	for _, name := range most[:min(10, len(most))] {
		fmt.Fprintf(w, "%s\t%d\n", name, methods[name])
	}
}

func printCycles(w io.Writer, refs references) {
	cycles := refs.cycles()
	inCycle := 0
	for _, c := range cycles {
		inCycle += len(c)
	}
	fmt.Fprintf(w, "\nfiles of agent in a cycle of references\t%d of %d\n", inCycle, len(refs))
	for _, c := range cycles {
		fmt.Fprintf(w, "a cycle of %d files\trefers to\n", len(c))
		for _, f := range c {
			fmt.Fprintf(w, "%s\t%s\n", strings.TrimSuffix(f, ".go"), refs.within(f, c))
		}
	}
}
