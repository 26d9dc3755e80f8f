package main

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"
)

// A bubble runs a function in virtual time: clocks and timers jump to the next event as soon as
// every goroutine of the function waits for one. So a day takes only the time of its computations,
// and its figures don't depend on the machine.
//
// The bubble is that of testing/synctest, which needs a *testing.T. Tests have one; see
// inVirtualTime for the program.
type bubble func(func())

// inVirtualTime calls a program with a bubble, and exits with the status that it returns.
//
// Package testing gives a T only to tests, but any program can run some: [testing.Main] is for
// programs that do what "go test" does. The flags of tests have their defaults, os.Args are the
// program's own.
func inVirtualTime(program func(bubble) int) {
	if err := flag.CommandLine.Parse(nil); err != nil { // otherwise the tests would parse os.Args
		os.Exit(exitFailed)
	}
	matchAll := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(matchAll,
		[]testing.InternalTest{{Name: "gate", F: func(t *testing.T) { os.Exit(program(bubbleOf(t))) }}}, nil, nil)
}

func bubbleOf(t *testing.T) bubble {
	return func(fn func()) { synctest.Test(t, func(*testing.T) { fn() }) }
}
