package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The stand-in model suggests topics.
func Example() {
	dir, err := os.MkdirTemp("", "content")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	args := []string{"-db", filepath.Join(dir, "content.db"), "-p", "Give me topic ideas for LinkedIn"}
	run(context.Background(), args, func(string) string { return "" }, strings.NewReader(""), os.Stdout, io.Discard)
	// Output:
	// Here are 5 ideas that fit your goals.
	//   - What a week of remote work really costs (one calendar, hour by hour)
	//   - The first mistake with remote work (told from the end)
	//   - Remote work without a budget (a list that fits on a card)
	//   - How to explain remote work to a client (a conversation)
	//   - Five questions about remote work before you begin (a form to print)
}
