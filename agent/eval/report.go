package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Report has all trials of an evaluation, case by case.
type Report struct{ Trials []Trial }

// Rate returns how many trials of a case have passed a score, of those that it is known of. With
// the score "" it is about the trials as a whole: one has passed if all its scores have. Without a
// case it is about all cases.
func (r *Report) Rate(name, score string) (rate Rate) {
	for _, t := range r.of(name) {
		if passed, known := t.passed(score); known {
			rate.add(passed)
		}
	}
	return rate
}

// of returns the trials of a case; of all cases for "".
func (r *Report) of(name string) (trials []*Trial) {
	for i := range r.Trials {
		if t := &r.Trials[i]; name == "" || t.Case == name {
			trials = append(trials, t)
		}
	}
	return trials
}

// Rescore returns the report with new scores, without running anything but scorers: those of the
// cases of the same names, and of Config.Score. Trials of other cases, and those that weren't run,
// stay as they are, and so do scores of [Effect]. Trials of these cases without messages, as the
// file of Config.Against has them, can't be scored again: that is an error.
func (r *Report) Rescore(ctx context.Context, cfg Config) (*Report, error) {
	e, err := newEvaluation(func() (*agent.Agent, error) { return nil, nil }, cfg)
	if err != nil {
		return nil, err
	}
	of := func(t Trial) int { return slices.IndexFunc(cfg.Cases, func(c Case) bool { return c.Name == t.Case }) }
	if slices.ContainsFunc(r.Trials, func(t Trial) bool { return of(t) >= 0 && t.ran() && t.Messages == nil }) {
		return nil, fault.New(fault.Invalid, "eval: a report without messages can't be scored again: take one of "+
			"Run, or of the file Config.Report")
	}
	scored := &Report{Trials: slices.Clone(r.Trials)}
	e.each(len(scored.Trials), func(i int) {
		t := &scored.Trials[i]
		if c := of(*t); c >= 0 && t.ran() {
			e.score(ctx, &cfg.Cases[c], t, t.Scores)
		}
	})
	return scored, context.Cause(ctx)
}

// version is that of the files.
const version = 1

// A header is the first line of a file.
type header struct {
	V      int `json:"pawl_eval"`
	Trials int `json:"trials"`
}

// Write writes the report as JSON lines: one with the version and the number of trials, then one
// for each [Trial].
func (r *Report) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(header{V: version, Trials: len(r.Trials)})
	for i := range r.Trials {
		err = cmp.Or(err, enc.Encode(&r.Trials[i]))
	}
	return err
}

// Read reads what [Report.Write] wrote. A file of another version, with a line that isn't such a
// line, or with fewer or more trials than it says is an error that names the line. Its class is
// UserFixable: the file has to be written anew.
func Read(from io.Reader) (*Report, error) {
	dec, r := json.NewDecoder(from), new(Report)
	var h header
	err := dec.Decode(&h)
	if err == nil && h.V != version {
		err = fmt.Errorf("it has version %d, and this release reads %d", h.V, version)
	}
	for err == nil && len(r.Trials) < h.Trials {
		var t Trial
		if err = dec.Decode(&t); err == nil {
			r.Trials = append(r.Trials, t)
		}
	}
	if err == nil && dec.More() {
		err = errors.New("there are more lines than the first one says")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fault.Errorf(fault.UserFixable, "eval: line %d of a report: %w",
			1+len(r.Trials)+min(h.V/version, 1), err)
	}
	return r, nil
}

// Markdown returns the report for people, such as the readers of a pull request: what got worse,
// with the reasons of the trials that failed, then what got better, a table of the cases, and all
// trials that didn't pass. old is an earlier report to compare with, or nil.
//
// The table has, for each case, the trials that passed with the 95 % interval of the rate, pass^3
// and pass@3 (of as many trials as there are, if fewer), and the means of cost, steps and time. The
// row below has the figures of old.
func (r *Report) Markdown(old *Report) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	all, c := r.Rate("", ""), new(Comparison)
	line("**%v trials passed.** Of %d more it isn't known.", all, len(r.Trials)-all.Of)
	if old != nil {
		c = r.Compare(old)
		line("Of %d scores, %d got worse and %d better than chance explains.", len(c.Worse)+len(c.Better)+len(c.Noise),
			len(c.Worse), len(c.Better))
	}
	for i, changes := range [][]Change{c.Worse, c.Better, c.New, c.Gone} {
		for n, ch := range changes {
			if n == 0 {
				line("\n## %s\n", []string{"Worse", "Better", "New", "Gone"}[i])
			}
			line("- **%s**, %s: %v → %v", inline(ch.Case), inline(ch.Score), ch.Before, ch.Now)
			r.reasons(ch.Case, func(t *Trial, score, reason string) {
				if score == ch.Score && i == 0 {
					line("  - trial %d: %s", t.N, inline(reason))
				}
			})
		}
	}
	line("\n## Cases\n\n| case | passed | 95 %% interval | pass^3 | pass@3 | cost | steps | time |\n" +
		"|---|---|---|---|---|---|---|---|")
	for _, t := range r.Trials {
		if t.N == 1 {
			line("| %s | %s", inline(t.Case), r.row(t.Case))
			if old != nil && len(old.of(t.Case)) > 0 {
				line("| … before | %s", old.row(t.Case))
			}
		}
	}
	title := "\n## Trials that didn't pass\n\n"
	r.reasons("", func(t *Trial, _, reason string) {
		line("%s- %s %d: %s (session %s)", title, inline(t.Case), t.N, inline(reason), inline(t.Session))
		title = ""
	})
	return b.String()
}

// row returns the figures of a case.
func (r *Report) row(name string) string {
	rate, cost, steps, took, of := r.Rate(name, ""), provider.Money(0), 0, time.Duration(0), 0
	for _, t := range r.of(name) {
		if t.ran() {
			cost, steps, took, of = cost.Add(t.Cost), steps+t.Steps, took+t.Took, of+1
		}
	}
	if rate.Of == 0 {
		return "none | | | | | | |"
	}
	low, high := rate.Interval()
	each, _, _ := rate.PassAll(min(3, rate.Of))
	any, _, _ := rate.PassAny(min(3, rate.Of))
	return fmt.Sprintf("%v | %.0f–%.0f %% | %.2f | %.2f | %v | %.1f | %v |", rate, 100*low, 100*high, each, any,
		cost/provider.Money(of), float64(steps)/float64(of), (took / time.Duration(of)).Round(time.Millisecond))
}

// reasons yields why trials of a case, or of all, didn't pass, with the score that says so.
func (r *Report) reasons(name string, yield func(t *Trial, score, reason string)) {
	for _, t := range r.of(name) {
		if !t.ran() {
			yield(t, "", cmp.Or(t.Error, "not run: "+t.NotRun))
		}
		for _, s := range t.Scores {
			if s.Error != "" || !s.Pass {
				yield(t, s.Name, s.Name+": "+cmp.Or(s.Error, s.Why))
			}
		}
	}
}

// inline returns a text as one line of Markdown that has no meaning there, and mentions nobody: a
// model may have written it.
func inline(text string) string {
	return markup.Replace(short(strings.Join(strings.Fields(text), " "), 500))
}

var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "`", "\\`",
	"@", "@\u200b")
