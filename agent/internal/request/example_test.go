package request_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/request"
)

func ExampleDecode() {
	var d request.Decision
	fmt.Println(request.Decode([]byte(`{"id": "p-1", "decision": "reject", "Decision": "approve"}`), &d))
	fmt.Println(request.Decode([]byte(`{"id": "p-1", "decision": "reject", "reason": "keep it"}`), &d))
	decision, err := d.Parse()
	fmt.Println(decision.ID, decision.Kind, decision.Reason, err)
	// Output:
	// "Decision" is no key of it
	// <nil>
	// p-1 reject keep it <nil>
}
