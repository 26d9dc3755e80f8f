package model_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/provider"
)

// The model's answer is a thought and a tool call.
func Example() {
	resp, err := provider.Generate(context.Background(), model.New(), &provider.Request{
		Messages: []provider.Message{
			provider.User("Please create a page called “About us”, with a hero section titled Hello.")},
		Tools: []provider.Tool{{Name: "cms.createPage"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Reasoning())
	for _, call := range resp.Calls() {
		fmt.Printf("%s %s\n", call.Name, call.Input)
	}
	// Output:
	// I create the page About us.
	// cms.createPage {"name":"About us","sections":[{"content":{"title":"Hello"},"section":"hero"}]}
}
