// Retry runs a command of go test, and runs a test that failed once more if a file names it:
//
//	go run ./internal/retry -names .ci/retry -unstable FILE go test -race -shuffle=on ./...
//
// It prints what go test prints. When the command has ended, each failed test that the file names
// runs again, alone, with the shuffle seed of its package and the flags of the command. If it
// passes, it is unstable: it is added to the file that -unstable names, with its first output, and
// the command passes. A test that fails twice, or that isn't named, fails the command. So does what
// is never chance: a package that doesn't compile, a data race, and a package that fails without a
// failed test, such as one with goroutines left over.
//
// A panic, an exit or a time limit ends all tests of a package. The tests that were in progress
// then count as failed. After they have passed alone, the tests that hadn't begun or were paused
// run, too, and what fails among them is treated in the same way.
//
// The file of names has a line for each part: a folder of the repository, and a regular expression
// for the names of its tests, as go test -run takes it. A # begins a comment.
//
// Arguments of the command that begin with a dot are packages, and it has neither -skip nor -args.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// module is the path of the module at the root. The nested modules have their folder's path in it.
const module = "github.com/pawlkit/pawl"

func main() {
	names := flag.String("names", ".ci/retry", "the file that names the tests that may run once more")
	unstable := flag.String("unstable", "", "a file to which the tests that passed only then are added")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := retried(ctx, *names, *unstable, flag.Args())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "retry:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

// retried runs the command, and reports whether it passed, if need be with tests that ran again.
func retried(ctx context.Context, file, unstable string, args []string) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	may, err := parseNames(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	cmd, err := parseCommand(args)
	if err != nil {
		return false, err
	}
	r := runner{may: may, run: goTest(os.Stdout), out: os.Stdout}
	ok := r.passes(ctx, cmd)
	if len(r.unstable) == 0 || unstable == "" {
		return ok, nil
	}
	f, err := os.OpenFile(unstable, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var all []byte // in one write, because several commands may add to the file
	for _, u := range r.unstable {
		all = append(all, u...)
	}
	_, err = f.Write(all)
	return ok, err
}
