package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

// The test binary also plays the program, as a process of its own.
const roleVar = "PAWL_GATE_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		main()
		os.Exit(99) // main doesn't return
	}
	goleak.VerifyTestMain(m)
}

var update = flag.Bool("update", false, "write testdata anew")

// An outcome is the result of a run of the program.
type outcome struct {
	status   int
	out, err string
}

// start runs the program with these arguments.
func start(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	status := run(args, &out, &err, bubbleOf(t))
	return outcome{status, out.String(), err.String()}
}

// shortly returns the arguments for a short day.
func shortly(more ...string) []string {
	return append([]string{"-sessions", "8", "-hours", "2"}, more...)
}

var (
	figure = regexp.MustCompile(`\$?\d[\d.:]*(ms|s|m|h)?(\d+[smh])?|( )-( |\n|$)`)
	spaces = regexp.MustCompile(` +`)
)

// shape returns a text without its figures.
func shape(text string) string {
	return spaces.ReplaceAllString(figure.ReplaceAllString(text, "$3#$4"), " ")
}

func TestTheSummaryShowsBothSides(t *testing.T) {
	o := start(t, shortly("-quiet")...)
	require.Equal(t, exitOK, o.status, o.err)
	require.Empty(t, o.err)
	golden := filepath.Join("testdata", "summary.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(golden, []byte(shape(o.out)), 0o666))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), shape(o.out))
}

func TestWithoutATerminalThereIsALineForEachHour(t *testing.T) {
	o := start(t, shortly()...)
	require.Equal(t, exitOK, o.status, o.err)
	require.NotContains(t, o.out, "\x1b")
	for _, clock := range []string{"11:15", "11:30", "11:45", "12:00", "12:15", "12:30", "12:45", "13:00"} {
		require.Equal(t, 1, strings.Count(o.out, "\n"+clock+"  "), "%s\n%s", clock, o.out)
	}
	require.Regexp(t, `12:30 .*outage\n`, o.out)
}

func TestTheSameSeedGivesTheSameOutput(t *testing.T) {
	took := regexp.MustCompile(`in \d+\.\d s`)
	of := func(seed string) string { return took.ReplaceAllString(start(t, shortly("-seed", seed)...).out, "") }
	require.Equal(t, of("5"), of("5"))
	require.NotEqual(t, of("5"), of("6"))
}

func TestTheChartIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.svg")
	o := start(t, shortly("-quiet", "-svg", path)...)
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, path)
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Less(t, len(svg), 60_000)
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	for _, name := range []string{day.Pawl, day.FIFO, "flood of background calls", "provider fails", "half the rate",
		"runaway job"} {
		require.Contains(t, string(svg), ">"+name+"</text>")
	}
	for _, side := range []string{"l0", "l1"} {
		require.Contains(t, string(svg), `<polyline class="longest `+side)
	}
}

func TestAChartThatCantBeWrittenIsAFailure(t *testing.T) {
	o := start(t, shortly("-quiet", "-svg", filepath.Join(t.TempDir(), "none", "gate.svg"))...)
	require.Equal(t, exitFailed, o.status)
	require.Contains(t, o.err, "gate: the chart couldn't be written")
	require.Contains(t, o.out, "People", "the summary is there nevertheless")
}

func TestAnInvalidFlagIsReportedOnce(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-sessions", "0"}, "gate: -sessions can't be 0; use 1 to 200\n"},
		{[]string{"-sessions", "201"}, "gate: -sessions can't be 201; use 1 to 200\n"},
		{[]string{"-hours", "25"}, "gate: -hours can't be 25; use 1 to 24\n"},
		{[]string{"-hours", "-1"}, "gate: -hours can't be -1; use 1 to 24\n"},
		{[]string{"-speed", "-1"},
			"gate: -speed can't be -1; use up to 1000 hours per second, or 0 for as fast as possible\n"},
		{[]string{"-speed", "NaN"},
			"gate: -speed can't be NaN; use up to 1000 hours per second, or 0 for as fast as possible\n"},
		{[]string{"now"}, "gate: \"now\" isn't a flag; -h lists the flags\n"},
		{[]string{"-nothing"}, "gate: flag provided but not defined: -nothing; -h lists the flags\n"},
	} {
		o := start(t, c.args...)
		require.Equal(t, outcome{exitUsage, "", c.want}, o)
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	o := start(t, "-h")
	require.Equal(t, exitOK, o.status)
	require.Empty(t, o.out)
	for _, flag := range []string{"-seed", "-sessions", "-hours", "-svg", "-speed", "-quiet", "Exit status"} {
		require.Contains(t, o.err, flag)
	}
}

// A broke is an output that fails at the second write.
type broke struct{ writes int }

var errBroke = errors.New("no room left")

func (b *broke) Write(p []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		return 0, errBroke
	}
	return len(p), nil
}

func TestAnOutputThatFailsIsAFailure(t *testing.T) {
	var err bytes.Buffer
	out := &broke{}
	require.Equal(t, exitFailed, run(shortly(), out, &err, bubbleOf(t)))
	require.Equal(t, "gate: the output couldn't be written: no room left\n", err.String())
	require.Equal(t, 2, out.writes, "nothing is written after it")
}

var upwards = regexp.MustCompile(`\x1b\[\d+A`)

func TestOnATerminalTheTableIsDrawnOverTheLastOne(t *testing.T) {
	var out bytes.Buffer
	plan := day.NewPlan(day.Config{Sessions: 4, Hours: 1})
	d := &screen{out: &out, plan: plan}
	report, err := watch(plan, d, 0, bubbleOf(t))
	require.NoError(t, err)
	frames := strings.Split(out.String(), "\x1b[?7l")[1:]
	require.Len(t, frames, int(max(report.Sides[1].Ended, plan.Length)/day.Every))
	lines := strings.Count(frames[0], "\n")
	for i, f := range frames {
		require.Equal(t, lines, strings.Count(f, "\n"), "every table has as many lines as the first")
		require.Equal(t, i > 0, strings.HasPrefix(f, "\x1b[8A"))
		require.Equal(t, i > 0, upwards.MatchString(f), "the first one goes over nothing")
		require.True(t, strings.HasSuffix(f, "\x1b[?7h"), "the terminal is left as it was")
		require.Contains(t, f, day.Pawl)
		require.Contains(t, f, day.FIFO)
	}
	require.Equal(t, 8, lines)
	require.Contains(t, out.String(), "Pawl: primary: breaker open")
}

func TestATickIsShownAccordingToTheSpeed(t *testing.T) {
	for speed, want := range map[float64]time.Duration{0: 0, 1: time.Second / 12, 2: time.Second / 24} {
		o := options{speed: speed}
		require.InDelta(t, want, o.pause(true), 10)
		require.Zero(t, o.pause(false), "elsewhere nobody looks on")
		o.quiet = true
		require.Zero(t, o.pause(true))
	}
}

func TestEveryWaitIsInTheChart(t *testing.T) {
	const length = 10 * time.Second
	waits := day.Waits{{At: 0, Wait: 1}, {At: 1, Wait: 3}, {At: 2, Wait: 2}, {At: length - 1, Wait: 5}}
	for n := 1; n < 30; n++ { // 10 s divided by 7 leaves something over
		in := points(n, length, waits)
		require.Len(t, in, n)
		require.Equal(t, time.Duration(5), in[n-1].Longest)
		if n > 1 {
			require.Equal(t, time.Duration(3), in[0].Longest)
			require.Equal(t, time.Duration(2), in[0].Typical)
		}
	}
}

func TestALostCallIsAFailure(t *testing.T) {
	lane := func(asked, done int, reason string) *day.Report {
		l := &day.Lane{Asked: asked, Done: done, Refused: map[string]int{reason: 1}}
		return &day.Report{Sides: [2]*day.SideReport{{Name: "x", Lanes: map[string]*day.Lane{"chat": l}}, {}}}
	}
	require.NoError(t, broken(lane(3, 2, day.ReasonBudget)))
	require.ErrorContains(t, broken(lane(4, 2, day.ReasonBudget)), "x: 1 calls of chat were lost")
	require.ErrorContains(t, broken(lane(3, 2, day.Untyped)), "x: 1 calls of chat failed without a reason")
}

func TestTheProgramMakesItsOwnVirtualTime(t *testing.T) {
	start := func(args ...string) (string, string, int) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), roleVar+"=program",
			"GORACE=atexit_sleep_ms=0") // with the race detector it would wait a second when it exits
		var out, err bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &err
		cmd.Run() // the exit status is checked below
		return out.String(), err.String(), cmd.ProcessState.ExitCode()
	}
	out, errs, status := start(shortly("-quiet", "-seed", "3")...)
	require.Equal(t, exitOK, status, errs)
	require.Empty(t, errs)
	require.Regexp(t, `\n2 hours in \d+\.\d s\.\n$`, out, "and nothing behind it that tests print")
	require.Contains(t, out, "People, until the first word")

	out, errs, status = start("-hours", "99")
	require.Equal(t, exitUsage, status)
	require.Equal(t, "gate: -hours can't be 99; use 1 to 24\n", errs)
	require.Empty(t, out)
}
