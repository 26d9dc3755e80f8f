// Team is a team of agents that builds Go programs in a directory: a guide, a librarian, a tester
// and engineers, with an inspector that is go vet and go test. See README.md.
//
//	go run ./examples/team
//	go run ./examples/team -t "Build a command that counts words" -yes
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

// run is the program. It returns its exit code.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out, errs io.Writer) int {
	o, err := readOptions(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	code, err := o.start(ctx, getenv, in, out)
	if err != nil {
		fmt.Fprintln(errs, "team:", agent.Words(err))
		return max(code, 1)
	}
	return code
}
