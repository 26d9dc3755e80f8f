package contenttools_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
)

func Example() {
	for _, s := range contenttools.ParseSections("# Remote work\n\nText.\n\n## The problem\n\n## What works\n") {
		fmt.Println(s.Type, s.Heading)
	}
	// Output:
	// intro Remote work
	// body The problem
	// body What works
}
