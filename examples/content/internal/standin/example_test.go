package standin_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/tools/web"
)

func Example() {
	found, err := web.Find(context.Background(), "remote work", 2, standin.Sources()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range found.Results {
		fmt.Println(r.Title)
	}
	// Output:
	// Made up 1: a report on a first year with remote work
	// Made up 2: a plan for remote work that took too long
}
