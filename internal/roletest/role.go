package roletest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// variable says which role a process plays.
const variable = "PAWL_TEST_ROLE"

// Roles are what the test binary plays as another process, by name. A role gets the arguments that it was started with.
type Roles map[string]func(args []string) error

// Play plays the role that this process was started for, and ends the process: with status 0, or, saying the error on standard
// error, with 1. In the process that runs the tests it does nothing. A TestMain begins with it.
func (r Roles) Play() {
	name, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	err := fmt.Errorf("roletest: there is no role %q", name)
	if role := r[name]; role != nil {
		err = role(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Ready says to the test that the role is ready, and returns when [Together] lets it go on. A role calls it once at most.
func Ready() {
	fmt.Println(ready)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // or the test is over
}

const ready = "ready"

// Command returns the command that plays a role, to be run by whoever needs more than [Start] does.
func Command(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+role)
	return cmd
}
