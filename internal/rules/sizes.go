package rules

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// measured are the packages whose code Sizes counts.
var measured = []string{"agent", "agent/machine", "tools", "internal/schema"}

// Sizes prints how large the repository is whose root is given: code lines (lines that aren't blank
// and aren't only a comment, outside of tests) of the central packages, the
// largest files and structs, the exported names of package agent, and the cycles of references
// between its files. It runs the go command.
func Sizes(w io.Writer, root string) error {
	files, err := read(root)
	if err != nil {
		return err
	}
	agent, err := check(root, "agent", files)
	if err != nil {
		return err
	}
	return printSizes(w, code(files), agent)
}

// printSizes is Sizes for the code of a repository and its type-checked package agent.
func printSizes(w io.Writer, all []*file, agent *checked) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printPackages(tab, all)
	printFiles(tab, all)
	printStructs(tab, all)
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
}

func printFiles(w io.Writer, files []*file) {
	files = slices.SortedStableFunc(slices.Values(files), func(a, b *file) int {
		return cmp.Compare(b.lines(), a.lines())
	})
	fmt.Fprintf(w, "\nlargest files (at most %d lines)\tlines\tcode lines\n", maxLines)
	for _, f := range files[:min(10, len(files))] {
		fmt.Fprintf(w, "%s\t%d\t%d\n", f.path, f.lines(), f.codeLines())
	}
}

func printStructs(w io.Writer, files []*file) {
	var large []structType
	for _, f := range files {
		for _, s := range f.structs() {
			if s.fields > maxFields {
				large = append(large, s)
			}
		}
	}
	slices.SortStableFunc(large, func(a, b structType) int { return cmp.Compare(b.fields, a.fields) })
	fmt.Fprintf(w, "\nstructs of more than %d fields\tfields\twhy\n", maxFields)
	for _, s := range large {
		fmt.Fprintf(w, "%s\t%d\t%s\n", s.name, s.fields, cmp.Or(largeStructs[s.name].why, "NOT ALLOWED"))
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
