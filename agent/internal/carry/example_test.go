package carry_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
)

func Example() {
	text, err := carry.Encode(&agent.Input{Session: "s-1", Key: "first", Prompt: "Write the report."})
	fmt.Println(string(text), err)
	in, _, err := carry.Decode(text)
	fmt.Println(in.Prompt, err)
	// Output:
	// {"Key":"first","Prompt":"Write the report.","Session":"s-1"} <nil>
	// Write the report. <nil>
}
