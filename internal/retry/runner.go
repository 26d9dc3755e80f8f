package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// A runner runs commands of go test and decides what failures mean.
type runner struct {
	may      []part
	run      func(context.Context, command) (results []*result, ok bool)
	out      io.Writer
	unstable []string // what is to be known of each test that passed only when it ran again
}

// goTest returns a function that runs a command, prints what go test prints, and reports whether
// it ended with status 0.
func goTest(out io.Writer) func(context.Context, command) ([]*result, bool) {
	return func(ctx context.Context, c command) ([]*result, bool) {
		args := slices.Concat(c.head, []string{"-json"}, c.packages, c.flags)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			fmt.Fprintln(out, err)
			return nil, false
		}
		var results []*result
		err = read(stdout, func(r *result) {
			r.print(out)
			results = append(results, r)
		}, func(text string) { io.WriteString(out, text) })
		if err != nil {
			fmt.Fprintln(out, err)
		}
		failed := cmd.Wait()
		if failed != nil && cmd.ProcessState.ExitCode() != 1 { // it was ended by a signal, or was used wrongly
			return nil, false
		}
		return results, failed == nil && err == nil
	}
}

// passes runs the command, and then the tests that may run once more.
func (r *runner) passes(ctx context.Context, c command) bool {
	results, ok := r.run(ctx, c)
	if ok {
		return true
	}
	results = slices.DeleteFunc(results, func(res *result) bool { return res.passed })
	if len(results) == 0 || slices.ContainsFunc(results, r.refuses) {
		return false
	}
	for _, res := range results {
		if !r.settles(ctx, c, res) {
			return false
		}
	}
	return ctx.Err() == nil
}

// settles runs each culprit of a package alone, and then the tests that they have kept from
// running.
func (r *runner) settles(ctx context.Context, c command, res *result) bool {
	var ran []string
	for {
		for _, t := range res.culprits() {
			if !r.passesAlone(ctx, c, res, t) {
				return false
			}
		}
		if res.ended {
			return true
		}
		for _, t := range res.tests {
			if t.state != paused {
				ran = append(ran, t.name)
			}
		}
		fmt.Fprintf(r.out, "-- the tests of %s that didn't run\n", res.pkg)
		results, ok := r.run(ctx, c.without(res.pkg, res.seed, ran))
		if ok {
			return true
		}
		if len(results) != 1 || r.refuses(results[0]) {
			return false
		}
		res = results[0]
	}
}

// passesAlone runs a test that failed once more. If it passes, it is unstable.
func (r *runner) passesAlone(ctx context.Context, c command, res *result, t *test) bool {
	c = c.alone(res.pkg, res.seed, t.name)
	fmt.Fprintf(r.out, "-- once more: %s\n", c)
	results, ok := r.run(ctx, c)
	if !ok || len(results) != 1 || results[0].test(t.name).state != passed {
		fmt.Fprintf(r.out, "-- failed twice: %s of %s\n", t.name, res.pkg)
		return false
	}
	r.unstable = append(r.unstable, fmt.Sprintf("-- %s of %s failed, and passed alone: %s\n%s\n", t.name, res.pkg, c,
		t.text()))
	return true
}

// refuses reports whether the failure of a package is no matter of chance, and prints why.
func (r *runner) refuses(res *result) bool {
	why := r.refusal(res)
	if why != "" {
		fmt.Fprintf(r.out, "-- not once more: %s: %s\n", res.pkg, why)
	}
	return why != ""
}

// refusal says why a failed package's tests don't run once more; empty: they do.
func (r *runner) refusal(res *result) string {
	culprits := res.culprits()
	switch {
	case !res.built:
		return "it doesn't compile"
	case res.raced():
		return "a data race is never chance"
	case len(culprits) == 0:
		return "the package failed without a failed test"
	}
	for _, t := range culprits {
		if !named(r.may, res.pkg, t.name) {
			return "the file of names doesn't have " + t.name
		}
	}
	return ""
}
