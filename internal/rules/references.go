package rules

import (
	"maps"
	"slices"
	"strings"
)

// references says for each file of a package which other files of it declare what the file uses:
// functions, types, constants, variables, fields and methods. Names are those of the files without
// their folder.
type references map[string]map[string]bool

// referencesOf returns the references between the files of a package.
func referencesOf(p *checked) references {
	refs := make(references)
	for _, name := range p.files {
		refs[name] = make(map[string]bool)
	}
	for name, used := range p.uses {
		if from, to := p.fileOf(name.Pos()), p.fileOf(used.Pos()); used.Pkg() == p.types && from != to {
			refs[from][to] = true
		}
	}
	return refs
}

// cycles returns the largest sets of files of which each refers to each other, by way of others or
// at once. A file that is in no cycle is in none of them.
func (r references) cycles() [][]string {
	reached := make(map[string]map[string]bool)
	for from := range r {
		seen := make(map[string]bool)
		for next := slices.Collect(maps.Keys(r[from])); len(next) > 0; {
			to := next[0]
			next = next[1:]
			if !seen[to] {
				seen[to] = true
				next = slices.AppendSeq(next, maps.Keys(r[to]))
			}
		}
		reached[from] = seen
	}
	var out [][]string
	placed := make(map[string]bool)
	for _, from := range slices.Sorted(maps.Keys(r)) {
		if placed[from] || !reached[from][from] {
			continue
		}
		var cycle []string
		for to := range reached[from] {
			if reached[to][from] {
				placed[to] = true
				cycle = append(cycle, to)
			}
		}
		slices.Sort(cycle)
		out = append(out, cycle)
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// within returns the files of a set to which a file refers, as a text.
func (r references) within(from string, set []string) string {
	var out []string
	for _, to := range set {
		if r[from][to] {
			out = append(out, strings.TrimSuffix(to, ".go"))
		}
	}
	return strings.Join(out, " ")
}
