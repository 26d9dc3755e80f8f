package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
)

// A question is answered, and nothing is built.
func Example() {
	at, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(at)
	var out bytes.Buffer
	code := run(context.Background(), []string{"-dir", at + "/programs", "-model", "standin", "-pace", "0", "-yes",
		"-t", "Who writes the tests?"}, os.Getenv, strings.NewReader(""), &out, os.Stderr)
	_, answer, _ := strings.Cut(out.String(), "The tester")
	fmt.Println(code, "The tester"+answer[:41])
	// Output:
	// 0 The tester writes the tests, and only those: files
}
