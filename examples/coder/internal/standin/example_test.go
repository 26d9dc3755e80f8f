package standin_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/coder/internal/standin"
	"github.com/pawlkit/pawl/provider"
)

// What isn't one of its requests is answered with those that are, and nothing is done.
func ExampleNew() {
	res, err := provider.Generate(context.Background(), standin.New(0), &provider.Request{
		Messages: []provider.Message{provider.User("Should I fix the failing test?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := res.Message()
	fmt.Println(said.Text()[:52], len(said.Calls()))
	// Output:
	// I don't know this request, so I changed nothing. Thi 0
}
