package visible_test

import (
	"fmt"

	"github.com/pawlkit/pawl/internal/visible"
)

func ExampleText() {
	fmt.Printf("%q\n", visible.Text("Pay\u200b 10 \u202e001\u202c €\r\n\x1b[31mnow\U000E0041"))
	// Output: "Pay 10 001 €\n[31mnow"
}

func ExampleName() {
	fmt.Println(visible.Name("photo.png"), visible.Name("photo\u202egnp.exe"))
	// Output: photo.png "photo\u202egnp.exe"
}
