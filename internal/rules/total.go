package rules

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// core are the packages that drive a run. One that doesn't exist has no lines.
var core = []string{"agent", "agent/internal/due", "agent/internal/output", "agent/internal/session", "agent/machine",
	"agent/notes", "agent/stop"}

// goalOfRest is how many code lines everything outside the core should have at most. No test
// enforces it.
const goalOfRest = 41_000

// apart are the folders that the table of the rest leaves out: the modules of the clouds and of job
// queues, the support of tests (besides the packages whose names end in test), and examples.
var apart = []string{"provider/bedrock", "provider/vertex", "provider/internal/wire", "agent/work/river",
	"internal/storm", "internal/bench", "internal/rules", "examples"}

// counted reports whether the table of the rest has the package of a folder.
func counted(dir string) bool {
	if slices.Contains(core, dir) {
		return false
	}
	for ; dir != "."; dir = path.Dir(dir) {
		if slices.Contains(apart, dir) || strings.HasSuffix(dir, "test") {
			return false
		}
	}
	return true
}

// rest returns the code lines outside of the core by package, the largest first, and their total.
func rest(files []*file) (lines map[string]int, packages []string, total int) {
	lines = make(map[string]int)
	for _, f := range files {
		if counted(f.dir()) {
			n := f.codeLines()
			lines[f.dir()] += n
			total += n
		}
	}
	packages = slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), strings.Compare(a, b))
	})
	return lines, packages, total
}

func printRest(w io.Writer, files []*file) {
	lines, packages, total := rest(files)
	fmt.Fprintf(w, "\neverything but the core\tcode lines\tgoal\n")
	for _, p := range packages {
		fmt.Fprintf(w, "%s\t%d\n", p, lines[p])
	}
	fmt.Fprintf(w, "total of %d packages\t%d\t%d\n", len(packages), total, goalOfRest)
}
