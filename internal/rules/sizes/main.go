// Sizes prints how large the repository is: the code of the central packages, the largest files and
// structs, the exported names of package agent, and the cycles of references between its files. Run
// it from the root of the repository:
//
//	go run ./internal/rules/sizes
package main

import (
	"fmt"
	"os"

	"github.com/pawlkit/pawl/internal/rules"
)

func main() {
	if err := rules.Sizes(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}
