package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// TestPlayed is run in a process of its own, by other tests: it is what a program would have.
func TestPlayed(t *testing.T) {
	play := os.Getenv("EVAL_PLAY")
	if play == "" {
		t.Skip("it is played by other tests")
	}
	var n atomic.Int64
	forgets := int64(1 << 40) // every so many trials, the model forgets its tool
	_, _ = fmt.Sscanf(play, "forgets every %d", &forgets)
	a, b := weather(Called("weather")), weather()
	b.Name, b.Ends = "other", agent.Completed
	cfg := Config{Cases: []Case{a, b}, Trials: 20, Parallel: 1, Against: os.Getenv("EVAL_AGAINST"),
		Report: os.Getenv("EVAL_REPORT")}
	switch play {
	case "budget":
		cfg.Budget = budget.New(budget.Config{Global: budget.Limit{Tokens: 40}})
	case "no agent":
		cfg.Cases = cfg.Cases[1:]
	case "unknown":
		cfg.Cases[0].Score = []Scorer{Schema(nil)}
	case "unknown in turns":
		for turn := range 2 {
			cfg.Score = append(cfg.Score, func(_ context.Context, t *Trial) (Score, error) {
				s := Score{Name: fmt.Sprint("own ", turn), Pass: true}
				if t.N%2 == turn {
					return s, errors.New("no network")
				}
				return s, nil
			})
		}
	case "two suites":
		cfg.Cases[0].Name = "another"
	}
	Test(t, func() (*agent.Agent, error) {
		if play == "no agent" {
			return nil, fmt.Errorf("no key")
		}
		if n.Add(1)%forgets == 0 {
			return agentOf(nil, answer)()
		}
		return agentOf(nil, oslo, answer)()
	}, cfg)
}

// played runs TestPlayed, or a part of it, and returns whether it passed and what it printed.
func played(t *testing.T, play, name, against string, env ...string) (bool, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPlayed$"+name, "-test.v")
	cmd.Env = append(os.Environ(), "PAWL_EVAL=", "GORACE=atexit_sleep_ms=0", "EVAL_PLAY="+play, "EVAL_AGAINST="+against)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

func TestTheFirstTimeSaysHowToWriteTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "testdata", "eval.json")
	ok, out := played(t, "", "", file)
	require.True(t, ok, "it is skipped: %s", out)
	ok, out = played(t, "well", "", file)
	require.False(t, ok)
	require.Contains(t, out, "To write it: PAWL_EVAL=write go test -run '^TestPlayed$'")
	ok, out = played(t, "well", "", file, "PAWL_EVAL=write")
	require.True(t, ok, out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 41, strings.Count(string(text), "\n"))
	require.NotContains(t, string(text), "Oslo", "the messages aren't in it")
	require.NotContains(t, string(text), "eval/")

	report := filepath.Join(t.TempDir(), "report.jsonl")
	ok, out = played(t, "forgets every 20", "", file, "EVAL_REPORT="+report)
	require.True(t, ok, "one of 20 is noise: %s", out)
	require.Contains(t, out, "trial 20: called weather: the calls were []")
	text, err = os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(text), "Oslo")
	text, err = os.ReadFile(report + ".md")
	require.NoError(t, err)
	require.Contains(t, string(text), "| weather | 19 of 20 |")

	// What got worse fails, names the case, and can be accepted.
	ok, out = played(t, "forgets every 2", "", file)
	require.False(t, ok)
	require.Contains(t, out, `weather got worse than in `+file+`: "called weather" passed 20 of 20, and now 10 of 20.`)
	require.Contains(t, out, "--- PASS: TestPlayed/other")
	ok, out = played(t, "forgets every 1", "/weather", file, "PAWL_EVAL=write")
	require.True(t, ok, out)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(string(text), `"case":"other"`), "the case that wasn't chosen stays")
	ok, out = played(t, "well", "/other", file, "PAWL_EVAL=write")
	require.True(t, ok, out)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Less(t, strings.Index(string(again), `"case":"weather"`), strings.Index(string(again), `"case":"other"`))
	require.Equal(t, 40, strings.Count(string(again), `"case":"`), "in its place")
	ok, out = played(t, "forgets every 2", "", file)
	require.True(t, ok, "it is better now: %s", out)
	require.Contains(t, out, "## Better")

	require.NoError(t, os.WriteFile(file, text[:len(text)/2], 0o600))
	ok, out = played(t, "well", "", file)
	require.False(t, ok)
	require.Contains(t, out, "of a report: unexpected EOF")
	require.Contains(t, out, "To write it")
}

func TestWithoutAFileEveryTrialMustPass(t *testing.T) {
	t.Parallel()
	ok, out := played(t, "forgets every 20", "", "")
	require.False(t, ok)
	require.Contains(t, out, "19 of 20 trials passed, and Config.Floor is 1")
	ok, out = played(t, "well", "", "")
	require.True(t, ok, out)
}

func TestWhatIsNotKnownFailsTheTestAndWhatIsNotRunDoesNot(t *testing.T) {
	t.Parallel()
	ok, out := played(t, "no agent", "", "")
	require.False(t, ok)
	require.Contains(t, out, "trial 1: the agent couldn't be made: no key")
	ok, out = played(t, "unknown", "", "")
	require.False(t, ok)
	require.Contains(t, out, "Schema needs a value")
	ok, out = played(t, "unknown in turns", "", "")
	require.False(t, ok, "no trial is known to have passed")
	require.Contains(t, out, "0 of 0 trials passed")
	file := filepath.Join(t.TempDir(), "eval.json")
	ok, out = played(t, "budget", "", file, "PAWL_EVAL=write")
	require.False(t, ok, out)
	require.Contains(t, out, file+" isn't written: ")
	require.NoFileExists(t, file, "half an evaluation is nothing to compare with")
	ok, _ = played(t, "well", "/none", file, "PAWL_EVAL=write")
	require.False(t, ok)
	require.NoFileExists(t, file, "no case was chosen")
	ok, out = played(t, "budget", "", "")
	require.True(t, ok, out)
	require.Contains(t, out, "--- SKIP: TestPlayed/other")
	require.Contains(t, out, "not run: budget: ")
}

func TestWhatTheFileLacksFailsTheTest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "eval.json")
	ok, out := played(t, "well", "/weather", file, "PAWL_EVAL=write")
	require.True(t, ok, out)
	ok, out = played(t, "well", "/weather", file)
	require.True(t, ok, out)
	ok, out = played(t, "well", "", file)
	require.False(t, ok)
	require.Contains(t, out, `other: "ends completed" isn't in `+file)

	ok, out = played(t, "two suites", "", file, "PAWL_EVAL=write") // with one file
	require.True(t, ok, out)
	ok, out = played(t, "well", "", file)
	require.False(t, ok)
	require.Contains(t, out, `weather: "called weather" isn't in `+file)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	ok, out = played(t, "budget", "", file, "PAWL_EVAL=write")
	require.False(t, ok, "who asks for a new file learns that it isn't one")
	require.Contains(t, out, "isn't written")
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
