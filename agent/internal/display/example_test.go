package display_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/display"
)

// A reader that was too slow gets the text so far once more, and then the complete reply.
func ExampleReply() {
	var r display.Reply
	fmt.Printf("%q\n", r.Piece(0, "It is "))
	r.Repeated = true
	fmt.Printf("%q\n", r.Piece(0, "It is cold"))
	fmt.Printf("%q\n", r.Rest(0, "It is cold."))
	// Output:
	// "It is "
	// "cold"
	// "."
}
