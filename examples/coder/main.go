// Coder is a coding agent in a terminal: it works on the Go code of a folder, and asks before it
// changes something. See README.md.
//
//	go run ./examples/coder
//	go run ./examples/coder -dir . -mode edits
//	go run ./examples/coder -dir . -p "Why does the test of package cart fail?"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/pawlkit/pawl/agent"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program. It returns its exit code: 0 done, 1 failed, 2 it can't start like this, 3 it
// waits for a decision.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out, errs io.Writer) int {
	o, err := readOptions(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	code, err := o.start(ctx, getenv, in, out, errs)
	if err != nil {
		fmt.Fprintln(errs, "coder:", agent.Words(err))
		return max(code, 1)
	}
	return code
}
