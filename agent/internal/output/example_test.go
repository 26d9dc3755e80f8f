package output_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/output"
)

func ExampleType_Read() {
	t, err := output.Of[[]string]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Read(`{"value": ["a", "b"]}`))
	fmt.Println(t.Read("```json\n[\"a\"]\n```"))
	fmt.Println(t.Read(`"a"`))
	// Output:
	// [a b] <nil>
	// [a] <nil>
	// [a] <nil>
}
