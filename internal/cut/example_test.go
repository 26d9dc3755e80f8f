package cut_test

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
)

func Example() {
	short, left := cut.Lines(strings.Repeat("nothing new\n", 300)+"error: no space left\n", 200)
	fmt.Println(left, "bytes left out of", 300*12+21)
	fmt.Println(short)
	fmt.Println(cut.Start("naïve", 3))
	// Output:
	// 3485 bytes left out of 3621
	// nothing new
	// nothing new
	// nothing new
	// nothing n
	// [… 3485 bytes left out …]
	// thing new
	// nothing new
	// nothing new
	// nothing new
	// nothing new
	// nothing new
	// error: no space left
	//
	// na
}
