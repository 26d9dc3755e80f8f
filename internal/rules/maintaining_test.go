package rules

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	goFileName = regexp.MustCompile(`\b\w+\.go\b`)
	inFile     = regexp.MustCompile("`([\\w.]+)` \\((\\w+\\.go)\\)")
	inColumn   = regexp.MustCompile(`^\|(.*)\| (\w+\.go) \|$`)
	quoted     = regexp.MustCompile("`([\\w.]+)`")
)

// TestThePageForMaintainersNamesTheRightFiles: a page that says where things are must be right.
func TestThePageForMaintainersNamesTheRightFiles(t *testing.T) {
	var page string
	functions := make(map[string][]string) // of the files of package agent
	for _, f := range repository(t) {
		switch {
		case f.path == "docs/maintaining.md":
			page = f.text
		case f.ast == nil || f.test() || f.dir() != "agent":
		default:
			name := strings.TrimPrefix(f.path, "agent/")
			functions[name] = []string{}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					functions[name] = append(functions[name], receiver(fn.Recv.List[0].Type)+"."+fn.Name.Name)
				} else if ok {
					functions[name] = append(functions[name], fn.Name.Name)
				}
			}
		}
	}
	checked := 0
	check := func(function, file string) {
		checked++
		require.True(t, slices.Contains(functions[file], function), "%s isn't in %s", function, file)
	}
	for line := range strings.Lines(page) {
		for _, file := range goFileName.FindAllString(line, -1) {
			require.True(t, functions[file] != nil, "package agent has no file %s", file)
		}
		for _, m := range inFile.FindAllStringSubmatch(line, -1) {
			check(m[1], m[2])
		}
		if m := inColumn.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				check(q[1], m[2])
			}
		}
	}
	require.GreaterOrEqual(t, checked, 10, "the page names too few functions")
	onPath, files := pathOfAnInput(page)
	require.LessOrEqual(t, len(onPath), 40, "an input passes through too many functions")
	require.LessOrEqual(t, len(files), 8, "an input passes through too many files")
}

// pathOfAnInput returns the functions and the files in the table of the page's section on the path
// of an input. A test of package agent compares them with what runs.
func pathOfAnInput(page string) (functions []string, files map[string]bool) {
	_, section, _ := strings.Cut(page, "\n## The path of an input\n")
	section, _, _ = strings.Cut(section, "\n## ")
	files = make(map[string]bool)
	for line := range strings.Lines(section) {
		if m := inColumn.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			files[m[2]] = true
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				functions = append(functions, q[1])
			}
		}
	}
	return functions, files
}
