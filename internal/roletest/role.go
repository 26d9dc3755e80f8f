package roletest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// variable is the environment variable with the role of a process.
const variable = "PAWL_TEST_ROLE"

// Roles are the roles that the test binary can play as another process, by name. A role gets its
// process's arguments.
type Roles map[string]func(args []string) error

// Play plays the role of this process, and ends the process: with status 0, or after an error with
// status 1 and the error on standard error. In the process that runs the tests it does nothing.
// Call it first in TestMain.
func (r Roles) Play() {
	name, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	err := fmt.Errorf("roletest: unknown role %q", name)
	if role := r[name]; role != nil {
		err = role(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Ready tells the test that the role is ready, and returns when [Together] lets it continue. A role
// calls it at most once.
func Ready() {
	fmt.Println(ready)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // or the test is over
}

const ready = "ready"

// Command returns the command that plays a role, for tests that need more than [Start].
func Command(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+role, quick)
	return cmd
}

// quick makes a process that was built with the race detector exit without waiting a second.
const quick = "GORACE=atexit_sleep_ms=0"
