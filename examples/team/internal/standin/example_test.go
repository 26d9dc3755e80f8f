package standin_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/team/internal/standin"
	"github.com/pawlkit/pawl/provider"
)

// The guide answers a question about the work, and builds nothing.
func ExampleModels() {
	guide, _, _, _ := standin.Models(0)
	res, err := provider.Generate(context.Background(), guide, &provider.Request{
		Messages: []provider.Message{provider.User("What is a slug?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := res.Message()
	fmt.Println(said.Text()[:51], len(said.Calls()))
	// Output:
	// A slug is the readable end of an address, made of a 0
}
