package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
)

// A request is answered without a terminal; what would ask ends the program with 3.
func Example() {
	var out bytes.Buffer
	args := []string{"-model", "standin", "-pace", "0", "-mode", "plan", "-p", "Who are you?"}
	code := run(context.Background(), args, os.Getenv, strings.NewReader(""), &out, &bytes.Buffer{})
	fmt.Println(code)
	// Output:
	// 0
}
