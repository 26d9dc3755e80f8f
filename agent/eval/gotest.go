package eval

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawlkit/pawl/agent"
)

// Test evaluates an agent in a test: see [Run]. Each case is a subtest, one after the other, so
// that -run chooses among them, with its trials in parallel. A subtest fails if a trial couldn't be
// tried, if a score isn't known for any trial, if it isn't known of any trial whether it passed, or
// if fewer trials have passed than Config.Floor says; it is skipped if none of its trials was run,
// because a budget had ended. The test fails if something got worse than in the file
// Config.Against, or if the file lacks it.
//
// With PAWL_EVAL=write in the environment, the file is written anew, and what got worse is no
// failure. If a subtest fails or a trial wasn't run, the file stays as it was, and the test fails.
// Cases that -run didn't choose stay in the file as they are, in their places. The report in
// Markdown is logged.
func Test(t *testing.T, newAgent func() (*agent.Agent, error), cfg Config) {
	t.Helper()
	e, err := newEvaluation(newAgent, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Floor == 0 && cfg.Against == "" {
		cfg.Floor = 1
	}
	var old *Report
	if cfg.Against != "" {
		text, failed := os.ReadFile(cfg.Against)
		if err = failed; err == nil {
			old, err = Read(bytes.NewReader(text))
		}
	}
	now := new(Report)
	for _, c := range cfg.Cases {
		chosen := false
		t.Run(c.Name, func(t *testing.T) {
			chosen = true
			r := &Report{Trials: e.run(t.Context(), []Case{c})}
			now.Trials = append(now.Trials, r.Trials...)
			verify(t, c.Name, r, cfg.Floor)
		})
		if !chosen && old != nil { // it is as it was, in its place
			for _, t := range old.of(c.Name) {
				now.Trials = append(now.Trials, *t)
			}
		}
	}
	again := "PAWL_EVAL=write go test -run '^" + t.Name() + "$'"
	anew := os.Getenv("PAWL_EVAL") == "write" && cfg.Against != ""
	switch unrun := func(t Trial) bool { return t.NotRun != "" }; {
	case anew && (t.Failed() || len(now.Trials) == 0 || slices.ContainsFunc(now.Trials, unrun)):
		anew, err = false, fmt.Errorf("%s isn't written: a subtest failed, or a trial wasn't run", cfg.Against)
	case anew:
		err = write(cfg.Against, now.brief())
	case err != nil:
		err = fmt.Errorf("nothing to compare with in %s: %w\nTo write it: %s", cfg.Against, err, again)
	}
	text := now.Markdown(old)
	t.Log("\n" + text)
	if cfg.Report != "" {
		err = errors.Join(err, write(cfg.Report, now), os.WriteFile(cfg.Report+".md", []byte(text), 0o644))
	}
	if err != nil {
		t.Error(err)
	}
	if old != nil && !anew {
		c := now.Compare(old)
		for _, ch := range c.Worse {
			t.Errorf("%s got worse than in %s: %q passed %s, and now %s. If that is intended: %s", ch.Case, cfg.Against,
				ch.Score, ch.Before, ch.Now, again)
		}
		for _, ch := range c.New {
			t.Errorf("%s: %q isn't in %s. To write it: %s", ch.Case, ch.Score, cfg.Against, again)
		}
	}
}

// verify fails a subtest for the trials of its case.
func verify(t *testing.T, name string, r *Report, floor float64) {
	if !slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.NotRun == "" }) {
		t.Skip("not run: " + r.Trials[0].NotRun)
	}
	r.reasons("", func(trial *Trial, score, reason string) {
		if t.Logf("trial %d: %s", trial.N, reason); trial.Error != "" || score != "" && r.Rate(name, score).Of == 0 {
			t.Fail()
		}
	})
	if rate := r.Rate(name, ""); rate.Of == 0 || rate.Share() < floor {
		t.Errorf("%s trials passed, and Config.Floor is %.2g", rate, floor)
	}
}

// brief returns the report without what only scorers need.
func (r *Report) brief() *Report {
	b := &Report{Trials: slices.Clone(r.Trials)}
	for i := range b.Trials {
		t := &b.Trials[i]
		t.Session, t.Answer, t.Calls, t.Exits, t.Messages, t.Pending, t.Usage.Raw = "", "", nil, nil, nil, nil, ""
		t.Statuses = nil
	}
	return b
}

// write writes a report to a file, whose folder is made if need be.
func write(path string, r *Report) error {
	var lines bytes.Buffer
	err := errors.Join(r.Write(&lines), os.MkdirAll(filepath.Dir(path), 0o755))
	return errors.Join(err, os.WriteFile(path, lines.Bytes(), 0o644))
}
