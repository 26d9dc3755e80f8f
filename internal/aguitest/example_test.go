package aguitest_test

import (
	"fmt"

	"github.com/pawlkit/pawl/internal/aguitest"
)

func ExampleStream() {
	fmt.Println(aguitest.Stream(1)[0])
	// Output: {"type":"RUN_STARTED","threadId":"t1","runId":"r1","protocolVersion":"1.0"}
}
