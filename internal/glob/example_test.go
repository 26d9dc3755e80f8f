package glob_test

import (
	"fmt"

	"github.com/pawlkit/pawl/internal/glob"
)

func Example() {
	fmt.Println(glob.Match("docs/**/*.md", "docs/a/b/c.md"), glob.Fold(".GIT::$DATA"))
	// Output: true .git
}
