package diff_test

import (
	"fmt"

	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

func Example() {
	base, ours, theirs := []byte("a\nb\nc\n"), []byte("A\nb\nc\n"), []byte("a\nb\nC\n")
	merged, conflicts := diff.Merge(base, ours, theirs)
	fmt.Print(conflicts, "\n", diff.Unified("base", "merged", base, merged))
	// Output:
	// 0
	// --- base
	// +++ merged
	// @@ -1,3 +1,3 @@
	// -a
	// +A
	//  b
	// -c
	// +C
}
