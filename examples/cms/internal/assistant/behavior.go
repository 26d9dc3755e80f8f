package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// The kinds of the events that [Hooks] record with [agent.Emit].
const (
	ComplexityDetected = "complexity-detected"
	ReflectionStart    = "reflection-start"
	ReflectionComplete = "reflection-complete"
	PhaseTransition    = "phase-transition"
	ProgressUpdate     = "progress-update"
	PreflightResult    = "preflight_result"
	ValidationFailed   = "validation_failed"
	ToolFallback       = "tool-fallback"
	ErrorEscalation    = "error-escalation"
	StepComplete       = "step-complete"
)

// The phases of a run.
const (
	Planning   = "planning"   // it only looks
	Executing  = "executing"  // it changes something
	Verifying  = "verifying"  // it looks at what it has changed
	Reflecting = "reflecting" // its answer is judged
	Completed  = "completed"
)

// maxRetries is how often a tool may fail in a row before a person is told.
const maxRetries = 2

// complex is the score from which a request is judged: see [critic.Rate].
const complex = .5

// A Behavior configures [Hooks].
type Behavior struct {
	// Critic judges the answers to complex requests; nil: they aren't judged.
	Critic provider.Provider
	// Fallbacks are tools that models use instead of others that didn't find what they should
	// change.
	Fallbacks map[string]string
}

// Hooks returns hooks that record what a person wants to see of a run besides its calls: how
// complex a request is, the phases of the work, what didn't validate, and what the agent can't
// correct by itself. They change nothing, except for the critic, which may send an answer back.
func Hooks(b Behavior) ([]agent.Hooks, error) {
	w := &watcher{behavior: b, runs: make(map[string]*work)}
	own := agent.Hooks{
		Name: "assistant", Observer: true, BeforeStep: w.beforeStep, AfterStep: w.afterStep, AfterTool: w.afterTool,
		BeforeFinish: w.beforeFinish, AfterRun: w.afterRun,
	}
	if b.Critic == nil {
		return []agent.Hooks{own}, nil
	}
	judge, err := critic.New(critic.Config{Provider: b.Critic, Threshold: complex, Rewrite: true, OnVerdict: w.judged,
		Logger: slog.Default()})
	if err != nil {
		return nil, err
	}
	reflect := agent.Hooks{Name: "reflection", Observer: true, BeforeFinish: w.reflect}
	return []agent.Hooks{reflect, judge, own}, nil
}

// A watcher follows runs. What it knows of them is forgotten with the process: a resumed run is
// counted anew.
type watcher struct {
	behavior Behavior

	mu   sync.Mutex // guards what follows
	runs map[string]*work
}

// A work is what a watcher knows of a run.
type work struct {
	wrote, checked bool // it has changed something; and has only read since then
	asked, done    int  // calls of the newest reply, and how many of them have ended
	failed         map[string]int
	missed         map[string]bool // tools that didn't find what they should change
	calls          []stepCall      // of the step in progress
}

// A stepCall is a call in the event [StepComplete].
type stepCall struct {
	ID      string `json:"toolCallId"`
	Name    string `json:"toolName"`
	Success bool   `json:"success"`
}

// of calls f with what is known of a run.
func (w *watcher) of(run string, f func(*work)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[run] == nil {
		w.runs[run] = &work{failed: make(map[string]int), missed: make(map[string]bool)}
	}
	f(w.runs[run])
}

func (w *watcher) beforeStep(ctx context.Context, s *agent.Step) error {
	var phase, why string
	var calls []stepCall
	w.of(s.Run, func(k *work) {
		calls, k.calls = k.calls, nil
		switch {
		case k.wrote && k.checked:
			phase, why = Verifying, "it looks at what it has changed"
		case k.wrote:
			phase, why = Executing, "it has changed something"
		case s.N >= 3:
			phase, why = Executing, "it has looked at the site"
		default:
			phase, why = Planning, "a new request"
		}
	})
	if s.N == 1 {
		if c := critic.Rate(s.LastUserText()); c.Score >= complex {
			if err := agent.Emit(ctx, ComplexityDetected,
				map[string]any{"score": c.Score, "message": reasons(c)}); err != nil {
				return err
			}
		}
	} else if err := stepComplete(ctx, s.N-1, calls); err != nil {
		return err
	}
	return enter(ctx, s.Phase, phase, why)
}

func stepComplete(ctx context.Context, n int, calls []stepCall) error {
	return agent.Emit(ctx, StepComplete,
		map[string]any{"stepId": fmt.Sprintf("step-%d", n), "toolCalls": len(calls), "toolResults": calls})
}

// enter records another phase.
func enter(ctx context.Context, from, to, why string) error {
	if from == to {
		return nil
	}
	if err := agent.SetPhase(ctx, to); err != nil {
		return err
	}
	return agent.Emit(ctx, PhaseTransition, map[string]any{"from": from, "to": to, "reason": why})
}

// reasons says in words why a request is complex.
func reasons(c critic.Complexity) string {
	var why []string
	for _, r := range []struct {
		yes  bool
		word string
	}{{c.Steps, "several steps"}, {c.Transform, "data to transform"}, {c.External, "other systems"},
		{c.Ambiguous, "an open question"}, {c.Risky, "a risk"}} {
		if r.yes {
			why = append(why, r.word)
		}
	}
	return "This request has " + strings.Join(why, ", ") + ", so the answer is checked before it is given."
}

func (w *watcher) afterStep(_ context.Context, s *agent.Step, r *provider.Response) error {
	n := 0
	for i := range r.Parts {
		if r.Parts[i].Kind == provider.PartToolCall {
			n++
		}
	}
	w.of(s.Run, func(k *work) { k.asked, k.done, k.checked = n, 0, true })
	return nil
}

func (w *watcher) afterTool(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
	var attempt, done, asked int
	var fallback string
	good := r.Status.Good()
	w.of(c.Run, func(k *work) {
		k.calls = append(k.calls, stepCall{c.ID, c.Name, good})
		k.done++
		done, asked = k.done, k.asked
		switch {
		case good:
			k.failed[c.Name] = 0
			for from, to := range w.behavior.Fallbacks {
				if to == c.Name && k.missed[from] {
					fallback, k.missed[from] = from, false
				}
			}
		case isFailure(r):
			k.failed[c.Name]++
			attempt = k.failed[c.Name]
			k.missed[c.Name] = r.Class == fault.NotFound
		}
		if good && c.Spec != nil && !c.Spec.ReadOnly {
			k.wrote, k.checked = true, false
		}
	})
	switch {
	case attempt > 0:
		if err := failed(ctx, c, r, attempt); err != nil {
			return err
		}
	case fallback != "":
		if err := agent.Emit(ctx, ToolFallback,
			map[string]any{"originalTool": fallback, "fallbackTool": c.Name, "success": true}); err != nil {
			return err
		}
	}
	if good && c.Spec != nil && strings.HasSuffix(c.Name, ".validatePlan") {
		if err := agent.Emit(ctx, PreflightResult, object(r.Text())); err != nil {
			return err
		}
	}
	if asked > 1 {
		return agent.Emit(ctx, ProgressUpdate,
			map[string]any{"progress": float64(done) / float64(asked), "completed": done, "pending": asked - done})
	}
	return nil
}

// isFailure reports whether a result is a failure that the model should correct, and not a decision
// of a person or a rule.
func isFailure(r *agent.ToolResult) bool {
	switch r.Status {
	case tools.Failed, tools.Unverified, tools.Invalid, tools.TimedOut, tools.Unavailable:
		return true
	}
	return false
}

// failed records a failure, and tells a person when corrections haven't helped, or can't.
func failed(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult, attempt int) error {
	said := r.Text()
	expected, actual := "", said
	var own struct{ Expected, Actual string }
	if json.Unmarshal([]byte(said), &own) == nil && own.Expected != "" {
		expected, actual = own.Expected, own.Actual
	}
	if m := r.Mismatch; m != nil {
		expected, actual = m.Expected, m.Actual
	}
	if r.Class == fault.Invalid || r.Status == tools.Unverified || r.Status == tools.Invalid {
		err := agent.Emit(ctx, ValidationFailed, map[string]any{"toolName": c.Name, "expected": short(expected),
			"actual": short(actual), "retryAttempt": attempt})
		if err != nil {
			return err
		}
	}
	reason, modal := "", true
	switch {
	case r.Class == fault.UserFixable:
		reason = "A person has to fix it."
	case attempt != maxRetries+1:
		return nil
	case r.Class == fault.Transient || r.Status == tools.TimedOut || r.Status == tools.Unavailable:
		reason, modal = fmt.Sprintf("The service is unavailable after %d attempts.", attempt), false
	default:
		reason = fmt.Sprintf("It failed %d times, and the corrections haven't helped.", attempt)
	}
	return agent.Emit(ctx, ErrorEscalation,
		map[string]any{"tool": c.Name, "error": short(said), "reason": reason, "showModal": modal})
}

// short keeps an event far below its limit.
func short(s string) string {
	if runes := []rune(s); len(runes) > 2000 {
		return string(runes[:2000]) + "…"
	}
	return s
}

// object returns JSON text as it is if it is an object, and other text in one.
func object(s string) any {
	if len(s) <= 32<<10 && strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return map[string]any{"text": short(s)}
}

func (w *watcher) reflect(ctx context.Context, r *agent.Result) error {
	if len(r.Messages) == 0 || critic.Rate(r.Messages[0].Text()).Score < complex {
		return nil
	}
	if err := enter(ctx, r.Phase, Reflecting, "the answer is checked"); err != nil {
		return err
	}
	return agent.Emit(ctx, ReflectionStart, map[string]any{})
}

func (w *watcher) judged(ctx context.Context, v critic.Verdict) {
	// the verdict is recorded, too
	_ = agent.Emit(ctx, ReflectionComplete,
		map[string]any{"improved": v.Action != critic.Accept, "qualityScore": max(v.Score, v.Rewritten)})
}

func (w *watcher) beforeFinish(ctx context.Context, r *agent.Result) error {
	if err := stepComplete(ctx, r.Steps, nil); err != nil {
		return err
	}
	return enter(ctx, r.Phase, Completed, "the answer is given")
}

func (w *watcher) afterRun(_ context.Context, r *agent.Result) error {
	if r.Status != agent.Paused {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs, r.Run)
	}
	return nil
}
