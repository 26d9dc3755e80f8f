package rules

import (
	"go/ast"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sentenceEnd matches the end of a sentence in a comment.
var sentenceEnd = regexp.MustCompile(`[^\s.]\.(\s|$)`)

// TestAnAliasSaysWhatItsTypeHas: go doc shows nothing of an alias but its comment, so that has to
// do for the type. Its list names fields and methods, and it mentions each of them.
func TestAnAliasSaysWhatItsTypeHas(t *testing.T) {
	aliases := make(map[string]map[string]string) // comments, by package and name
	for _, f := range goFiles(t) {
		if f.test() || f.internal() || f.ast.Name.Name == "main" {
			continue
		}
		for name, doc := range exportedAliases(f) {
			if aliases[f.dir()] == nil {
				aliases[f.dir()] = make(map[string]string)
			}
			aliases[f.dir()][name] = doc
		}
	}
	require.Contains(t, aliases["agent"], "Result")
	exports, err := exportData(root, slices.Collect(maps.Keys(aliases))...)
	require.NoError(t, err)
	for pkg, comments := range aliases {
		p, err := checkWith(exports, pkg, repository(t))
		require.NoError(t, err)
		for name, doc := range comments {
			for _, problem := range aliasProblems(p.types, name, doc) {
				t.Errorf("the comment of %s.%s %s", pkg, name, problem)
			}
		}
	}
}

// TestAliasProblems shows what the rule finds.
func TestAliasProblems(t *testing.T) {
	p := checkedAgent(t)
	const good = "A StopError says why. It is short.\n\n  - Code, Limit, Problem, Err: a, b\n  - Error(), Unwrap(), " +
		"Fault(), Words(): c, d, e\n"
	require.Empty(t, aliasProblems(p.types, "StopError", good))
	require.Equal(t, []string{"has fewer than two sentences"},
		aliasProblems(p.types, "StopError", strings.Replace(good, "why. It", "why it", 1)))
	require.Equal(t, []string{`names "Cod", which the type doesn't have`, "doesn't mention Code"},
		aliasProblems(p.types, "StopError", strings.Replace(good, "Code", "Cod", 1)))
	require.Equal(t, []string{`names "Error", which the type doesn't have`},
		aliasProblems(p.types, "StopError", strings.Replace(good, "Error(), Un", "Error, Un", 1)))
}

// exportedAliases returns the comments of the exported aliases that a file declares. An alias in a
// group has the comment of its line only.
func exportedAliases(f *file) map[string]string {
	out := make(map[string]string)
	for _, d := range f.ast.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Assign.IsValid() && spec.Name.IsExported() {
				doc := spec.Doc
				if !group.Lparen.IsValid() {
					doc = group.Doc
				}
				out[spec.Name.Name] = doc.Text()
			}
		}
	}
	return out
}

// aliasProblems says what is wrong with the comment of an alias. A line of its list begins with
// names and a colon: of fields, of methods with brackets, or of constants of the package.
func aliasProblems(pkg *types.Package, name, doc string) (problems []string) {
	if len(sentenceEnd.FindAllString(doc, -1)) < 2 {
		problems = append(problems, "has fewer than two sentences")
	}
	t := types.Unalias(pkg.Scope().Lookup(name).Type())
	for line := range strings.Lines(doc) {
		item, ok := strings.CutPrefix(line, "  - ")
		names, _, found := strings.Cut(item, ":")
		if !ok || !found {
			continue
		}
		for n := range strings.SplitSeq(names, ", ") {
			if _, ok := pkg.Scope().Lookup(n).(*types.Const); ok {
				continue
			}
			found, _, _ := types.LookupFieldOrMethod(t, true, pkg, strings.TrimSuffix(n, "()"))
			if _, method := found.(*types.Func); found == nil || method != strings.HasSuffix(n, "()") {
				problems = append(problems, "names \""+n+"\", which the type doesn't have")
			}
		}
	}
	words := regexp.MustCompile(`\w+`).FindAllString(doc, -1)
	for _, n := range members(t) {
		if !slices.Contains(words, n) {
			problems = append(problems, "doesn't mention "+n)
		}
	}
	return problems
}

// members returns the exported fields and methods of a type, without those of embedded types.
func members(t types.Type) (out []string) {
	add := func(o types.Object) {
		if o.Exported() {
			out = append(out, o.Name())
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			add(f)
		}
	case *types.Interface:
		for m := range u.Methods() {
			add(m)
		}
	}
	if named, ok := t.(*types.Named); ok {
		for m := range named.Methods() {
			add(m)
		}
	}
	return out
}
