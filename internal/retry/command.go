package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A command is one of go test.
type command struct {
	head     []string // what is before the packages: go, perhaps -C and its folder, and test
	packages []string
	flags    []string
}

func parseCommand(args []string) (command, error) {
	i := slices.Index(args, "test")
	if i < 1 || args[0] != "go" {
		return command{}, errors.New("give a command that begins with go test or go -C FOLDER test")
	}
	c := command{head: args[:i+1]}
	for _, arg := range args[i+1:] {
		switch name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); {
		case strings.HasPrefix(arg, "."):
			c.packages = append(c.packages, arg)
		case strings.HasPrefix(arg, "-") && (name == "args" || name == "skip" || name == "json"):
			return command{}, fmt.Errorf("the command has %s, which it can't have", arg)
		default:
			c.flags = append(c.flags, arg)
		}
	}
	return c, nil
}

// args returns all of the command's words. Flags that are given twice have their last value.
func (c command) args() []string { return slices.Concat(c.head, c.packages, c.flags) }

// alone returns the command for one test of a package.
func (c command) alone(pkg, seed, test string) command {
	return c.with(pkg, seed, "-run="+matching([]string{test}))
}

// without returns the command for all tests of a package but those that are named.
func (c command) without(pkg, seed string, tests []string) command {
	if len(tests) == 0 {
		return c.with(pkg, seed)
	}
	return c.with(pkg, seed, "-skip="+matching(tests))
}

func (c command) with(pkg, seed string, flags ...string) command {
	if seed != "" {
		flags = append(flags, "-shuffle="+seed)
	}
	flags = append(flags, "-count=1") // not from the cache of results
	return command{c.head, []string{pkg}, slices.Concat(c.flags, flags)}
}

// matching returns a pattern of go test for the tests of these names.
func matching(tests []string) string {
	quoted := make([]string, len(tests))
	for i, t := range tests {
		quoted[i] = regexp.QuoteMeta(t)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// String returns the command as one types it into a shell.
func (c command) String() string {
	words := c.args()
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n\"'\\$`|&;()<>*?[]#~!{}") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
