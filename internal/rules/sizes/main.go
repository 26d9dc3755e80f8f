// Sizes prints how large the repository is: the code of the central packages, the largest files and
// structs, the exported names of package agent, and the cycles of references between its files. Run
// it from the root of the repository:
//
//	go run ./internal/rules/sizes
//	go run ./internal/rules/sizes names        exported names by package, and how many nobody uses
//	go run ./internal/rules/sizes names list   the names that nobody uses, too
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/pawlkit/pawl/internal/rules"
)

func main() {
	var err error
	if args := os.Args[1:]; len(args) > 0 && args[0] == "names" {
		err = rules.Names(os.Stdout, ".", slices.Contains(args, "list"))
	} else {
		err = rules.Sizes(os.Stdout, ".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}
