package eval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// A Config says what is evaluated, and within which bounds. Only Cases is required.
type Config struct {
	Cases []Case
	// Score has the scorers of all cases, after those of the case.
	Score []Scorer
	// Trials is how often each case is tried; 0 or less: 5. A comparison needs more to find more
	// than the worst changes: see [Report.Compare].
	Trials int
	// Parallel is how many trials run at a time; 0 or less: 4. Their model calls are background
	// work of low priority (20), so where the agent's provider is guarded by a gate, they wait for
	// people and for other work. Make such a guard once, and not in newAgent.
	Parallel int
	// Budget bounds what all trials use together; nil: no limit but those of the agent. What a
	// trial has used is booked after each of its model calls. Trials for which nothing is left
	// aren't run, or end, and are reported as such. It should be another one than that of the
	// agent's guard, in which each call would be booked twice. Judges have budgets of their own.
	Budget *budget.Budget
	// Timeout is the most time that a trial may take, and then again its scorers; 0 or less: 5 min.
	Timeout time.Duration

	// Against is a file with an earlier report, for [Test]. If it is set, Test fails for what got
	// worse than that, and for what the file lacks. Each call of Test needs a file of its own.
	Against string
	// Floor is the share of the trials of each case that must pass, for [Test]: above 0 and at most
	// 1. 0: none if Against is set, else 1.
	Floor float64
	// Report is a file that [Test] writes the report to, for an archive of the CI or to score it
	// again. Beside it, with ".md" added to its name, is the report in Markdown. Empty: none.
	Report string
}

// A Case is something that an agent should do.
type Case struct {
	// Name is the case's name in reports: 1 to 100 bytes of UTF-8 without control characters.
	Name string
	// Input is what each trial begins with. Its Session must be empty: each trial has one of its
	// own.
	Input agent.Input
	Score []Scorer
	// Ends is how a run should end; empty: [agent.Completed]. A trial that should ask before it
	// acts is [agent.Paused].
	Ends agent.Status
	// Decide decides for the person who would be asked, up to 100 times in a trial. Nil: a trial
	// that asks ends there. It may be called from several goroutines at a time.
	Decide func(agent.Pause) agent.Decision
}

// FromSession returns a case that begins where a session was right before one of its model calls,
// so that a bug becomes a case: step counts the model calls of the session from 1, as
// [agent.Session.Trace] returns them. Give it a Name and Score.
//
// The case has the conversation that the model was shown, as History, and its mode. If the step is
// the first after an input, the Prompt is that input; otherwise it is "Continue.", because the
// calls before have their results in the History, and a run begins with a prompt. The trials have
// the tools and the instructions of the agent that is evaluated, not those of the session.
func FromSession(ctx context.Context, s *agent.Session, step int) (Case, error) {
	steps, err := s.Trace(ctx)
	if err != nil {
		return Case{}, err
	}
	if step < 1 || step > len(steps) {
		return Case{}, fault.Errorf(fault.Invalid, "eval: session %q has %d model calls, so there is no step %d",
			s.ID(), len(steps), step)
	}
	at := &steps[step-1]
	in := agent.Input{History: at.Messages, Prompt: "Continue.", Mode: at.Mode}
	if n := len(at.Messages) - 1; n >= 0 && at.Messages[n].Role == provider.RoleUser {
		in.History, in.Prompt, in.Parts = at.Messages[:n], at.Messages[n].Text(), slices.Clone(at.Messages[n].Parts)
		in.Parts = slices.DeleteFunc(in.Parts, func(p provider.Part) bool { return p.Kind != provider.PartMedia })
	}
	return Case{Input: in}, nil
}

// Run tries each case as often as Config.Trials says and scores the trials. newAgent is called for
// each trial, from several goroutines at a time, so that no trial sees what another one has done.
//
// Where the agent's journal outlives it, in a file of SQLite for example, the sessions of trials
// that didn't pass stay there, under the names that the report has: "pawl show" opens them. Those
// of trials that passed are deleted.
//
// The report has every trial, whatever happened to it. The error is that of ctx, whose end leaves
// the rest of the trials unrun. Without a report, it says what is wrong with the Config.
func Run(ctx context.Context, newAgent func() (*agent.Agent, error), cfg Config) (*Report, error) {
	e, err := newEvaluation(newAgent, cfg)
	if err != nil {
		return nil, err
	}
	return &Report{Trials: e.run(ctx, cfg.Cases)}, context.Cause(ctx)
}

// An evaluation runs trials.
type evaluation struct {
	Config
	newAgent func() (*agent.Agent, error)
	id       string // in the names of its sessions
}

func newEvaluation(newAgent func() (*agent.Agent, error), cfg Config) (*evaluation, error) {
	for i, c := range cfg.Cases {
		same := func(other Case) bool { return other.Name == c.Name }
		if c.Name == "" || len(c.Name) > 100 || strings.ContainsFunc(c.Name, unicode.IsControl) ||
			!utf8.ValidString(c.Name) || c.Input.Session != "" || slices.ContainsFunc(cfg.Cases[:i], same) {
			return nil, fault.Errorf(fault.Invalid, "eval: Config.Cases: each needs a name of its own, of 1 to 100 "+
				"bytes of UTF-8 without control characters, and an Input without a Session: not %q", c.Name)
		}
	}
	if len(cfg.Cases) == 0 || newAgent == nil {
		return nil, fault.New(fault.Invalid, "eval: Config.Cases: there must be one, and a newAgent to try it with")
	}
	cfg.Trials, cfg.Parallel = cmp.Or(max(cfg.Trials, 0), 5), cmp.Or(max(cfg.Parallel, 0), 4)
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), 5*time.Minute)
	id := time.Now().UTC().Format("20060102-150405-") + rand.Text()[:6]
	return &evaluation{Config: cfg, newAgent: newAgent, id: id}, nil
}

// run returns the trials of cases: case by case, although the first trials of all cases run first,
// so that a budget that ends leaves some of each.
func (e *evaluation) run(ctx context.Context, cases []Case) []Trial {
	trials := make([]Trial, len(cases)*e.Trials)
	e.each(len(trials), func(i int) {
		n, at := i/len(cases), i%len(cases)
		c, t := &cases[at], &trials[at*e.Trials+n]
		t.Case, t.N, t.Session = c.Name, n+1, fmt.Sprintf("eval/%s/%s/%d", e.id, c.Name, n+1)
		if e.try(ctx, c, t); t.ran() {
			e.score(ctx, c, t, nil)
		}
		if passed, _ := t.passed(""); passed && t.ran() {
			_ = t.Agent.Session(t.Session).Delete(context.WithoutCancel(ctx)) // or it is kept, too
		}
		t.Agent = nil
	})
	return trials
}

// each calls do with the numbers below n, Config.Parallel at a time, and returns when all have
// returned.
func (e *evaluation) each(n int, do func(int)) {
	var all errgroup.Group
	all.SetLimit(e.Parallel)
	for i := range n {
		all.Go(func() error { do(i); return nil })
	}
	_ = all.Wait()
}

// A Trial is one run of a case: what it did, and its scores.
//
// If NotRun or Error is set, the trial says nothing about the agent: it has no scores and counts in
// no rate.
type Trial struct {
	Case    string `json:"case"`
	N       int    `json:"n"` // from 1
	Session string `json:"session,omitempty"`

	// NotRun says why the trial wasn't run, or not to its end: the budget or the context ended.
	NotRun string `json:"not_run,omitempty"`
	// Error says why the case couldn't be tried: the agent couldn't be made, something panicked, or
	// the model couldn't be called, for example.
	Error string `json:"error,omitempty"`

	// Status and Reason say how the run ended: see [agent.Result]. One that was too slow is
	// agent.Stopped, and its Reason says so; that of one that is agent.Paused says what it asks.
	Status agent.Status `json:"status,omitempty"`
	Reason string       `json:"reason,omitempty"`

	Steps    int            `json:"steps,omitempty"`
	Usage    provider.Usage `json:"usage,omitzero"`
	Cost     provider.Money `json:"cost,omitempty"`
	Unpriced bool           `json:"unpriced,omitempty"` // Cost lacks calls whose price isn't known
	Took     time.Duration  `json:"took,omitempty"`     // in nanoseconds, whole milliseconds
	Scores   []Score        `json:"scores,omitempty"`

	// Answer is the model's last text. It and what follows is for scorers: the file that Test
	// compares with lacks it.
	Answer string `json:"answer,omitempty"`
	// Calls are those that the agent's model made, in order, also calls that failed, were denied or
	// wait for a decision. Those of subagents aren't among them.
	Calls []provider.ToolCall `json:"calls,omitempty"`
	// Statuses says how the calls ended, by their ids. One that waits for a decision has none, and
	// no call of a report that an earlier version wrote.
	Statuses map[string]tools.Status `json:"statuses,omitempty"`
	// Exits says how the programs ended that the calls have run, by the ids of the calls.
	Exits    map[string]tools.Exit `json:"exits,omitempty"`
	Messages []provider.Message    `json:"messages,omitempty"` // those of the run
	Pending  []agent.Pause         `json:"pending,omitempty"`  // what the run waits for
	// Agent is the agent of the trial, with its sessions; nil when a report is scored again.
	Agent *agent.Agent `json:"-"`
}

// ran reports whether the trial says something about the agent.
func (t *Trial) ran() bool { return t.NotRun == "" && t.Error == "" }

// passed reports whether a score has passed, or for "" all of them, and whether that is known.
func (t *Trial) passed(score string) (passed, known bool) {
	of := slices.DeleteFunc(slices.Clone(t.Scores), func(s Score) bool { return score != "" && s.Name != score })
	failed := slices.ContainsFunc(of, func(s Score) bool { return s.Error == "" && !s.Pass })
	open := slices.ContainsFunc(of, func(s Score) bool { return s.Error != "" })
	return !failed && !open, t.ran() && (failed || !open) && (score == "" || len(of) > 0)
}

// try runs a trial.
func (e *evaluation) try(ctx context.Context, c *Case, t *Trial) {
	names := budget.Names{Session: t.Session, User: c.Input.User, Task: c.Input.Task, Kind: "eval"}
	tokens, micros := int64(0), int64(0)
	book := func(newTokens, newMicros int64) error { // and says whether anything is left
		tokens, micros = tokens+newTokens, micros+newMicros
		e.Budget.Seed(names, newTokens, newMicros)
		room, err := e.Budget.Reserve(ctx, budget.ReserveRequest{Tokens: 1, Micros: 1, Names: names})
		room.Settle(0, 0) // the trial reserves nothing, because its guard may wait for the same budget
		return cmp.Or(err, context.Cause(ctx))
	}
	if err := book(0, 0); err != nil {
		t.NotRun = err.Error()
		return
	}
	began := time.Now()
	t.Error = "a function of the host ended its goroutine, as FailNow of a test does: return an error"
	defer func() {
		if p := recover(); p != nil {
			t.Error = fmt.Sprintf("panic: %v", p)
		}
		t.Took = time.Since(began).Round(time.Millisecond)
		e.Budget.Seed(names, t.Usage.Total()-tokens, int64(t.Cost)-micros)
	}()
	err := e.converse(ctx, c, t, book)
	t.Error = ""
	switch {
	case t.Status == agent.Completed || t.Status == agent.Paused:
	case ctx.Err() != nil || errors.Is(err, budget.ErrExceeded): // Config.Budget, or that of the agent's own guard
		t.NotRun = cmp.Or(context.Cause(ctx), err).Error()
	case t.Status != agent.Stopped:
		t.Error = err.Error()
	}
}

// converse makes the agent of a trial and runs it, with the decisions of the case. The error is
// that of the run.
func (e *evaluation) converse(ctx context.Context, c *Case, t *Trial, book func(int64, int64) error) (err error) {
	if t.Agent, err = e.newAgent(); err != nil {
		return fmt.Errorf("the agent couldn't be made: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout,
		fault.Errorf(fault.None, "the trial took longer than Config.Timeout, %v", e.Timeout))
	defer cancel()
	in := c.Input
	in.Session, in.Interactive, in.Children = t.Session, false, false
	in.Priority = cmp.Or(in.Priority, ratelimit.Background)
	var next agent.Work = in
	for range 100 {
		if err = t.drive(ctx, next, book); t.Status != agent.Paused || c.Decide == nil || len(t.Pending) == 0 {
			break
		}
		decisions := make([]agent.Decision, len(t.Pending))
		for i, p := range t.Pending {
			decisions[i] = c.Decide(p)
		}
		next = agent.Resume(t.Session, decisions...)
	}
	return err
}

// drive does work until the run ends or pauses, and stops it if the budget has no room for what
// it used.
func (t *Trial) drive(ctx context.Context, w agent.Work, book func(int64, int64) error) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var over error
	t.Status = ""
	for ev, failed := range t.Agent.Stream(ctx, w) {
		err = failed
		switch ev := ev.(type) {
		case *agent.Replied:
			for _, c := range ev.Message.Calls() {
				t.Calls = append(t.Calls, *c)
			}
			if over = cmp.Or(over, book(ev.Usage.Total(), int64(ev.Cost))); over != nil {
				stop(over)
			}
		case *agent.ToolFinished:
			if t.Statuses == nil {
				t.Statuses = make(map[string]tools.Status)
			}
			t.Statuses[ev.Result.CallID] = ev.Result.Status
			if exit := ev.Result.Exit; exit != nil {
				if t.Exits == nil {
					t.Exits = make(map[string]tools.Exit)
				}
				t.Exits[ev.Result.CallID] = *exit
			}
		case *agent.RunEnded:
			r := ev.Result
			t.Status, t.Reason, t.Answer, t.Messages = r.Status, r.Reason, r.Text(), r.Messages
			t.Steps, t.Usage, t.Cost, t.Unpriced, t.Pending = r.Steps, r.Usage, r.Cost, r.Unpriced, r.Pending
			for _, p := range r.Pending {
				t.Reason = cmp.Or(t.Reason, "it asks: "+p.Title)
			}
			err = r.Err()
		}
	}
	return cmp.Or(over, err)
}
