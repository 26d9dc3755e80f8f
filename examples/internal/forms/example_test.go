package forms_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

func Example() {
	does := []string{"greet", "rename"}
	all := forms.New(forms.Config{
		Words: [][2]string{{"NAME", `(?P<name>VALUE)`}},
		Says:  [][]string{{`greet NAME`, `say hello to NAME`}, {`rename NAME to (?P<new>VALUE)`}},
		Fit: func(_ int, values map[string]string, quoted map[string]bool) bool {
			for name, v := range values {
				if !quoted[name] && !forms.Plain(v, false) {
					return false
				}
			}
			return true
		},
	})
	for _, said := range []string{"Could you say hello to Ada, please?", `Rename Ada to "Ada, if she wants", then greet Bob`,
		"Greet Ada if she is there", "Don't greet Ada"} {
		fmt.Println(said)
		for _, r := range all.Read(said) {
			fmt.Printf("  %s %v\n", does[r.Form], r.Values)
		}
	}
	// Output:
	// Could you say hello to Ada, please?
	//   greet map[name:Ada]
	// Rename Ada to "Ada, if she wants", then greet Bob
	//   rename map[name:Ada new:Ada, if she wants]
	//   greet map[name:Bob]
	// Greet Ada if she is there
	// Don't greet Ada
}
