package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

// An edge is that one file refers to another.
type edge struct{ from, to string }

// namesOf returns by which names the files of a set refer to each other.
func namesOf(p *checked, set []string) map[edge][]string {
	names := make(map[edge][]string)
	for id, used := range p.uses {
		e := edge{p.fileOf(id.Pos()), p.fileOf(used.Pos())}
		if used.Pkg() == p.types && e.from != e.to && slices.Contains(set, e.from) && slices.Contains(set, e.to) &&
			!slices.Contains(names[e], id.Name) {
			names[e] = append(names[e], id.Name)
		}
	}
	for _, n := range names {
		slices.Sort(n)
	}
	return names
}

// cuts says where a cycle could be cut, in two tables. The first removes what one file uses of the
// others, then what a second uses, and so on. It begins each time with the file that has the most
// users for each file that it uses, among those still in the cycle. The second table has the
// references that each keep a file in the cycle alone.
func cuts(p *checked, refs references, cycle []string) string {
	names := namesOf(p, cycle)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nwithout what this file uses\tuses\tused by\tcycle left\t\n")
	left := refs.clone()
	for in := cycle; len(in) > 0; {
		f, uses, users := left.mostUsed(in)
		what := usedBy(names, f, in)
		clear(left[f])
		in = left.largestCycle()
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", f, uses, users, len(in), what)
	}
	fmt.Fprint(w, "\nwithout one reference\t\t\tcycle left\t\n")
	for _, e := range slices.SortedFunc(maps.Keys(names), func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	}) {
		delete(refs[e.from], e.to)
		if n := len(refs.largestCycle()); n < len(cycle) {
			fmt.Fprintf(w, "%s to %s\t\t\t%d\t%s\n", e.from, e.to, n, strings.Join(names[e], " "))
		}
		refs[e.from][e.to] = true
	}
	_ = w.Flush() // it writes to memory
	return b.String()
}

// mostUsed returns the file of a set to which the most files of it refer, for each to which it
// refers itself, and how many these are.
func (r references) mostUsed(set []string) (most string, uses, users int) {
	for _, f := range set {
		to, from := 0, 0
		for _, g := range set {
			if r[f][g] {
				to++
			}
			if r[g][f] {
				from++
			}
		}
		if most == "" || from*uses > users*to {
			most, uses, users = f, to, from
		}
	}
	return most, uses, users
}

// usedBy says which names a file uses of which others of a set, the shortest list first.
func usedBy(names map[edge][]string, from string, set []string) string {
	var out []string
	for e, used := range names {
		if e.from == from && slices.Contains(set, e.to) {
			out = append(out, fmt.Sprintf("%s (%s)", strings.TrimSuffix(e.to, ".go"), strings.Join(used, " ")))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return strings.Join(out, ", ")
}

func (r references) clone() references {
	out := make(references)
	for from, to := range r {
		out[from] = maps.Clone(to)
	}
	return out
}

// largestCycle returns the files of the largest cycle, none if there is no cycle.
func (r references) largestCycle() []string {
	if cycles := r.cycles(); len(cycles) > 0 {
		return cycles[0]
	}
	return nil
}

// TestCuts has files of which each uses the next, and the last the first two.
func TestCuts(t *testing.T) {
	p := checkedFiles(t, map[string]string{
		"a.go": "func first() { second() }",
		"b.go": "func second() { third(); _ = fourth }",
		"c.go": "func third() { first(); second() }; var fourth int",
		"d.go": "func outside() { first() }",
	})
	refs := referencesOf(p)
	text := cuts(p, refs, refs.largestCycle())
	require.Equal(t, []string{
		"without what this file uses uses used by cycle left",
		"b.go 1 2 0 c (fourth third)",
		"without one reference cycle left",
		"a.go to b.go 2 second",
		"b.go to c.go 0 fourth third",
		"c.go to a.go 2 first",
	}, words(text))
	require.Equal(t, referencesOf(p), refs, "it leaves the references as they were")
}

// words returns the lines of a text that aren't blank, with single spaces.
func words(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

// checkedFiles type-checks a package whose files are given without their first line.
func checkedFiles(t *testing.T, texts map[string]string) *checked {
	t.Helper()
	p := &checked{fset: token.NewFileSet(), uses: make(map[*ast.Ident]types.Object)}
	var parsed []*ast.File
	for name, text := range texts {
		f, err := parser.ParseFile(p.fset, name, "package p\n"+text, 0)
		require.NoError(t, err)
		p.files, parsed = append(p.files, name), append(parsed, f)
	}
	var err error
	p.types, err = new(types.Config).Check("p", p.fset, parsed, &types.Info{Uses: p.uses})
	require.NoError(t, err)
	return p
}
