package main

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// A result is what came out of the tests of one package.
type result struct {
	pkg    string
	passed bool
	built  bool   // it was compiled
	ended  bool   // its tests weren't ended by a panic, an exit or a time limit
	seed   string // of the shuffle; empty: there was none
	output strings.Builder
	tests  []*test // in the order in which they began
}

// A test is one that isn't part of another. Its output contains that of its parts.
type test struct {
	name   string
	state  state
	output strings.Builder
}

type state int

const (
	running state = iota
	paused
	failed
	passed
	skipped
)

// An event is a line that go test -json prints.
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// read makes results of what go test -json prints. It calls each as soon as a package has ended,
// and plain for what belongs to no package, such as errors of the compiler.
func read(from io.Reader, each func(*result), plain func(string)) error {
	open := make(map[string]*result)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				plain(line)
			} else if e.Package == "" {
				plain(e.Output)
			} else {
				r := open[e.Package]
				if r == nil {
					r = &result{pkg: e.Package, built: true}
					open[e.Package] = r
				}
				if r.add(e) {
					delete(open, e.Package)
					each(r)
				}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, r := range open { // go test itself was ended
		each(r)
	}
	return nil
}

// add reports whether the event is the last of the package.
func (r *result) add(e event) bool {
	if e.Test == "" {
		return r.addOwn(e)
	}
	name, _, sub := strings.Cut(e.Test, "/")
	t := r.test(name)
	switch {
	case e.Action == "output":
		t.output.WriteString(e.Output)
	case sub:
	case e.Action == "run" || e.Action == "cont":
		t.state = running
	case e.Action == "pause":
		t.state = paused
	case e.Action == "fail":
		t.state = failed
	case e.Action == "pass":
		t.state = passed
	case e.Action == "skip":
		t.state = skipped
	}
	return false
}

// addOwn is add for the events of the package itself.
func (r *result) addOwn(e event) bool {
	switch e.Action {
	case "output":
		r.output.WriteString(e.Output)
		if seed, ok := strings.CutPrefix(e.Output, "-test.shuffle "); ok {
			r.seed = strings.TrimSpace(seed)
		}
		r.ended = r.ended || e.Output == "PASS\n" || e.Output == "FAIL\n"
	case "pass", "skip", "fail":
		r.passed = e.Action != "fail"
		r.built = e.FailedBuild == ""
		return true
	}
	return false
}

func (r *result) test(name string) *test {
	i := slices.IndexFunc(r.tests, func(t *test) bool { return t.name == name })
	if i < 0 {
		i = len(r.tests)
		r.tests = append(r.tests, &test{name: name})
	}
	return r.tests[i]
}

// culprits returns the tests that failed, and those in progress when the tests were ended.
func (r *result) culprits() []*test {
	var all []*test
	for _, t := range r.tests {
		if t.state == running || t.state == failed {
			all = append(all, t)
		}
	}
	return all
}

// raced reports whether there was a data race.
func (r *result) raced() bool {
	const race = "WARNING: DATA RACE"
	return strings.Contains(r.output.String(), race) ||
		slices.ContainsFunc(r.tests, func(t *test) bool { return strings.Contains(t.output.String(), race) })
}

// print writes what go test prints without -v: the output of tests that failed, and the last lines.
func (r *result) print(to io.Writer) {
	if r.passed {
		for line := range strings.Lines(r.output.String()) {
			if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
				io.WriteString(to, line)
			}
		}
		return
	}
	for _, t := range r.culprits() {
		io.WriteString(to, t.text())
	}
	io.WriteString(to, r.output.String())
}

// text returns the test's output without the lines that say which test goes on.
func (t *test) text() string {
	var b strings.Builder
	for line := range strings.Lines(t.output.String()) {
		if !strings.HasPrefix(line, "=== ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
