package erase_test

import (
	"fmt"

	"github.com/pawlkit/pawl/internal/erase"
)

func Example() {
	w := erase.Replaced([]string{"Ann"}, "[erased]", nil)
	fmt.Println(string(w.Record("steered", []byte(`{"run":"Ann-1","text":"Ann called"}`))))
	// Output: {"run":"Ann-1","text":"[erased] called"}
}
