package humanity_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/humanity"
)

func Example() {
	text := "In order to leverage robust tools, teams delve into the data."
	revised := humanity.Revise(text)
	fmt.Println(revised)
	fmt.Println(humanity.Check(text).Summary)
	fmt.Println(humanity.Check(revised).Summary)
	// Output:
	// To use solid tools, teams look at the data.
	// 2 of 24 patterns found
	// 0 of 24 patterns found
}
