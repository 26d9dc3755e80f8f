package main

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"
)

// A bubble runs a function to its end, in virtual time: clocks and timers jump to the next event as soon as every goroutine of the
// function waits for one. So a day takes as long as what is computed in it, and its figures owe nothing to the machine.
//
// The bubble is that of testing/synctest, which wants a *testing.T. In tests there is one; see inVirtualTime for the program.
type bubble func(func())

// inVirtualTime calls a program with a bubble, and ends the process with the status that it returns.
//
// Package testing hands out a T only to tests, but lets any program run some: [testing.Main] is there for programs that do what
// "go test" does. The flags of tests are left at their defaults, os.Args are the program's own.
func inVirtualTime(program func(bubble) int) {
	if err := flag.CommandLine.Parse(nil); err != nil { // or the tests would parse os.Args
		os.Exit(exitFailed)
	}
	matchAll := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(matchAll, []testing.InternalTest{{Name: "gate", F: func(t *testing.T) { os.Exit(program(bubbleOf(t))) }}}, nil, nil)
}

func bubbleOf(t *testing.T) bubble {
	return func(fn func()) { synctest.Test(t, func(*testing.T) { fn() }) }
}
