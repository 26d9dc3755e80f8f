package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// events makes what go test -json prints of lines such as "fail TestA", "run", or "> text", whose
// text is the output of the test before or of the package.
func events(lines string) string {
	var b strings.Builder
	test := ""
	for line := range strings.Lines(lines) {
		action, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if action == "" {
			continue
		}
		if action == ">" {
			b.WriteString(`{"Action":"output","Package":"p","Test":"` + test + `","Output":"` + rest + `\n"}` + "\n")
			continue
		}
		if test = rest; action == "uncompiled" {
			b.WriteString(`{"Action":"fail","Package":"p","FailedBuild":"p"}` + "\n")
			continue
		}
		b.WriteString(`{"Action":"` + action + `","Package":"p","Test":"` + test + `"}` + "\n")
	}
	return b.String()
}

// TestWhatFailsOnceAndWhatFails has what each command of a run prints, and whether it passed.
func TestWhatFailsOnceAndWhatFails(t *testing.T) {
	type run struct {
		want  string // the arguments after the package
		lines string
		ok    bool
	}
	one := func(end string) string { return "start\n > -test.shuffle 3\n run TestA\n" + end }
	failed := one("fail TestA\n start\n > FAIL\n fail")
	again := run{"-shuffle=on -run=^(TestA)$ -shuffle=3 -count=1", one("pass TestA\n pass"), true}
	for name, c := range map[string]struct {
		runs     []run
		passes   bool
		unstable int
	}{
		"all pass":   {[]run{{"", one("pass TestA\n pass"), true}}, true, 0},
		"once":       {[]run{{"", failed, false}, again}, true, 1},
		"twice":      {[]run{{"", failed, false}, {again.want, failed, false}}, false, 0},
		"a skip":     {[]run{{"", failed, false}, {again.want, one("skip TestA\n pass"), true}}, false, 0},
		"no test":    {[]run{{"", failed, false}, {again.want, "pass", true}}, false, 0},
		"not named":  {[]run{{"", "run TestB\n fail TestB\n start\n > FAIL\n fail", false}}, false, 0},
		"both kinds": {[]run{{"", "fail TestA\n fail TestB\n start\n > FAIL\n fail", false}}, false, 0},
		"a race":     {[]run{{"", one("> WARNING: DATA RACE\n fail TestA\n start\n > FAIL\n fail"), false}}, false, 0},
		"a leak":     {[]run{{"", one("pass TestA\n start\n > PASS\n fail"), false}}, false, 0},
		"a build":    {[]run{{"", "start\n uncompiled", false}}, false, 0},
		"no package": {[]run{{"", "", false}}, false, 0},
		"a panic, and tests that it ended": {[]run{
			{"", one("run TestC\n pause TestC\n run TestD\n pass TestD\n cont TestA\n > panic: a\n start\n fail"), false},
			again,
			{"-shuffle=on -skip=^(TestA|TestD)$ -shuffle=3 -count=1", one("pass TestC\n pass"), true},
		}, true, 1},
		"a panic, and one of these fails": {[]run{
			{"", one("> panic: a\n start\n fail"), false},
			again,
			{"-shuffle=on -skip=^(TestA)$ -shuffle=3 -count=1", "fail TestB\n start\n > FAIL\n fail", false},
		}, false, 1},
		"two panics": {[]run{
			{"", one("> panic: a\n start\n fail"), false},
			again,
			{"-shuffle=on -skip=^(TestA)$ -shuffle=3 -count=1", "start\n > -test.shuffle 3\n run TestAA\n fail", false},
			{"-shuffle=on -run=^(TestAA)$ -shuffle=3 -count=1", "run TestAA\n pass TestAA\n pass", true},
			{"-shuffle=on -skip=^(TestA|TestAA)$ -shuffle=3 -count=1", "pass", true},
		}, true, 2},
		"a panic in a test that isn't named": {[]run{
			{"", one("run TestB\n > panic: b\n start\n fail"), false},
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			may, err := parseNames("p ^TestA")
			require.NoError(t, err)
			may[0].pkg = "p"
			next := 0
			r := runner{may: may, out: io.Discard}
			r.run = func(_ context.Context, cmd command) (all []*result, ok bool) {
				require.Less(t, next, len(c.runs), "a command more: %s", cmd)
				now := c.runs[next]
				if next++; next > 1 {
					require.Equal(t, "go test p "+now.want, strings.Join(cmd.args(), " "))
				}
				require.NoError(t, read(strings.NewReader(events(now.lines)), func(r *result) { all = append(all, r) },
					func(text string) { t.Error(text) }))
				return all, now.ok
			}
			cmd, err := parseCommand([]string{"go", "test", "-shuffle=on", "./..."})
			require.NoError(t, err)
			require.Equal(t, c.passes, r.passes(t.Context(), cmd))
			require.Len(t, r.unstable, c.unstable)
			require.Len(t, c.runs, next)
		})
	}
}

func TestTheOutputIsThatOfGoTest(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"passed": {"run TestA\n > === RUN   TestA\n > noise\n pass TestA\n start\n > PASS\n > ok  \\tp\\t0.1s\n pass",
			"ok  \tp\t0.1s\n"},
		"failed": {"run TestA\n > noise\n pass TestA\n run TestB\n > === RUN   TestB\n > wrong\n fail TestB\n" +
			"start\n > FAIL\n fail", "wrong\nFAIL\n"},
		"no tests": {"start\n > ?   \\tp\\t[no test files]\n skip", "?   \tp\t[no test files]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, read(strings.NewReader(events(c.lines)), func(r *result) { r.print(&b) }, nil))
			require.Equal(t, c.want, b.String())
		})
	}
}

func TestOtherLinesAreKept(t *testing.T) {
	var plain string
	require.NoError(t, read(strings.NewReader("no JSON\n"+`{"ImportPath":"p","Action":"build-output","Output":"a.go:1\n"}`),
		nil, func(text string) { plain += text }))
	require.Equal(t, "no JSON\na.go:1\n", plain)
}

func TestCommandsAndNamesThatAreWrong(t *testing.T) {
	for _, words := range []string{"", "go", "test", "go vet", "go test -skip=A", "go test -args"} {
		_, err := parseCommand(strings.Fields(words))
		require.Error(t, err, words)
	}
	for _, names := range []string{"agent", "agent ( ", "agent A B"} {
		_, err := parseNames(names)
		require.ErrorContains(t, err, "line 1", names)
	}
}

func TestACommandInAnotherModule(t *testing.T) {
	c, err := parseCommand([]string{"go", "-C", "agent/work/river", "test", "-race",
		"-gcflags=encoding/json=-race=false -l", "-runs", "3", "."})
	require.NoError(t, err)
	require.Equal(t, "go -C agent/work/river test p -race '-gcflags=encoding/json=-race=false -l' -runs 3 "+
		"'-run=^(TestA)$' -shuffle=3 -count=1", c.alone("p", "3", "TestA").String())
}
