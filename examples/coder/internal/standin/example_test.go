package standin_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/coder/internal/standin"
	"github.com/pawlkit/pawl/provider"
)

// The stand-in does nothing where a sentence only asks.
func ExampleNew() {
	res, err := provider.Generate(context.Background(), standin.New(0), &provider.Request{
		Messages: []provider.Message{provider.User("Should I fix the failing test?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := res.Message()
	fmt.Println(said.Text()[:40], len(said.Calls()))
	// Output:
	// I do nothing, because that is a question 0
}
