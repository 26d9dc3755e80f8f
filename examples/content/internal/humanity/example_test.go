package humanity_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/humanity"
)

func Example() {
	text := "In order to leverage robust tools, teams delve into the data."
	revised := humanity.Revise(text)
	fmt.Println(revised)
	fmt.Println(humanity.Check(text).Score, humanity.Check(revised).Score)
	// Output:
	// To use solid tools, teams look at the data.
	// 80 99
}
