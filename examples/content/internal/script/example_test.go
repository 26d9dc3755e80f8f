package script_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/script"
)

func Example() {
	at := script.Place{Artifacts: []portfolio.Artifact{{ID: "7", Title: "Fixed prices", Status: portfolio.Ready}},
		Open: "7"}
	for _, said := range []string{"Publish it", "Please rename “Fixed prices” to “Prices, and why”",
		"Publish it if Anna agrees", "Don't publish it"} {
		r := script.Read(said, at)
		fmt.Printf("%s: %q %q %q\n", said, r.Intent, r.Artifact, r.Title)
	}
	// Output:
	// Publish it: "publish" "7" ""
	// Please rename “Fixed prices” to “Prices, and why”: "rename" "7" "Prices, and why"
	// Publish it if Anna agrees: "" "" ""
	// Don't publish it: "" "" ""
}
