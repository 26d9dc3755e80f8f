package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Hooks are functions of the host that observe or change a run. Each may be nil. They are called in
// the order of Config.Hooks; those for tool calls may be called from several goroutines at a time.
//
// The error of a hook says what must happen: [Deny], [Abort], [SendBack] or [Warn]. Any other
// error, and a panic, is a failure of the hook itself. A failure of a guard fails closed: the call
// is denied, its result is withheld, or the run fails. A failure of an Observer is logged and
// changes nothing. After-hooks are always called, even for calls that were denied, failed or never
// ran.
type Hooks struct {
	Name string
	// Observer says that the hooks only observe: errors that they return are logged and change
	// nothing.
	Observer bool

	// BeforeInput is called with each text from outside before anything is recorded, and may change
	// it: see [IncomingText]. [Deny], [Abort] and any other error of a guard refuse it: the caller
	// gets [ErrRefused], and nothing is recorded, not even that there was such a session. A
	// warning is only logged. It is called before it is known whether the session is free.
	BeforeInput func(ctx context.Context, t *IncomingText) error
	// Around is called when a run, a step or a tool call begins. The work is done with the values
	// of the context that it returns; the end of that context has no effect. The function that it
	// returns is called when the work has ended, with the error if it failed or didn't complete, in
	// the reverse order of the hooks. Either may be nil. A panic is logged and changes nothing.
	// Calls that aren't executed have no span.
	Around func(ctx context.Context, s *Span) (context.Context, func(error))
	// BeforeStep is called before each model call. It may change the step, or answer in the model's
	// place.
	BeforeStep func(ctx context.Context, s *Step) error
	// AfterStep is called with each answer, including one that a hook gave: s.AnsweredBy names the
	// hook. The answer may be kept, and must not be changed.
	AfterStep func(ctx context.Context, s *Step, r *provider.Response) error
	// BeforeTool is called before the input of a call is validated. It may change the input, or
	// answer in the tool's place.
	BeforeTool func(ctx context.Context, c *ToolCall) error
	// AfterTool is called with the result of each call, and may change it.
	AfterTool func(ctx context.Context, c *ToolCall, r *ToolResult) error
	// AfterDecision is called with each decision of a person on a pause of this agent, after the
	// decision was recorded and before the call runs: c is the call as it was asked about, p the
	// pause, and d what was decided, by whom, and for which scope ([Decision].For). A host stores a
	// grant here. It is called at most once for a decision: if the process ends first, it is never
	// called, and a grant that wasn't stored means that people are asked again. A subagent's
	// decisions are shown to its own hooks. Nothing changes the decision any more: [Abort] ends the
	// run, and any other error is logged.
	AfterDecision func(ctx context.Context, c *ToolCall, p Pause, d Decision) error
	// BeforeCompaction is called before the strategies of Config.Memory compact the conversation,
	// in a run or by [Session.Compact]. AfterCompaction is called after them, before the compaction
	// is recorded; it is always called, also if BeforeCompaction or a strategy has failed. An error
	// of either ends the run, or is that of Session.Compact, and the conversation stays as it was.
	// What is due may find nothing to do, and be tried again at the next steps: then there is no
	// Report.
	// What a new run leaves out because it made the one before it too long isn't shown to them.
	BeforeCompaction func(ctx context.Context, c *Compaction) error
	AfterCompaction  func(ctx context.Context, c *Compaction) error
	// BeforeFinish is called when the model has ended its turn. [SendBack] makes the run continue,
	// for each hook at most Limits.SendBacks times; after that the run completes, and
	// [Result].Missing says what was wanted. For a condition without which no run completes use
	// [Require].
	BeforeFinish func(ctx context.Context, r *Result) error
	// AfterRun is called when a run has ended or paused. Its context doesn't end with the run's,
	// but after 30 s.
	AfterRun func(ctx context.Context, r *Result) error

	required bool // the hooks are those of Require
}

// A Step is a model call that is about to be made. Changes by a hook apply to this call only.
type Step struct {
	Session string
	Run     string
	N       int // of the run, from 1
	Mode    string
	Phase   string
	// Final says that this is the last call, after a limit was reached.
	Final bool

	Model      string
	System     string
	Messages   []provider.Message  // a copy: it may be changed, its parts may not
	Tools      []*tools.Definition // of those that the run knows: any other is an error
	ToolChoice provider.ToolChoice
	// AnsweredBy is the hook that answered in the model's place.
	AnsweredBy string

	answer  *provider.Response
	changed bool
}

// LastUserText returns the text of the newest user message.
func (s *Step) LastUserText() string { return provider.LastUserText(s.Messages) }

// Answer makes r the reply of this step, so that the model isn't called. Of several answers the
// first counts.
func (s *Step) Answer(r *provider.Response) {
	if s.answer == nil && r != nil {
		s.answer = r
	}
}

// A ToolCall is a tool call as hooks see it.
type ToolCall struct {
	Session string
	Run     string
	Step    int
	Index   int
	ID      string
	Name    string
	Input   json.RawMessage
	User    string            // of the run's input
	Labels  provider.LabelSet // of the run
	// Spec is the tool's; nil if there is no such tool. It mustn't be changed.
	Spec *tools.Spec
	// AnsweredBy is the hook that answered in the tool's place.
	AnsweredBy string
	// Ran says, for AfterTool, that the tool has run for the call, or may have: the status of the
	// result says so, or the call was started before. Fence is the fencing token of the run: see
	// [tools.Call].
	Ran   bool
	Fence uint64

	answer *tools.Result
}

// Answer makes res the result of this call, so that the tool isn't run and nobody is asked for
// approval. It is for BeforeTool; elsewhere it has no effect. Of several answers the first counts,
// and a hook that denies the call overrides it. The result is validated and bounded like one of the
// tool. Its status is "answered", and its fact names the hook.
func (c *ToolCall) Answer(res tools.Result) {
	if c.answer == nil {
		c.answer = &res
	}
}

// A Compaction is a compaction of a conversation as hooks see it. It mustn't be changed.
type Compaction struct {
	Session string
	Run     string // the newest one
	// Trigger is what makes it due, as in [memory.Report]: for example "share 0.70", "window", or
	// "by hand" for [Session.Compact]. It is "too long" after a provider has refused a request for
	// its length.
	Trigger string
	// Report is what was done, for AfterCompaction; nil if there was nothing to do, or after Err.
	Report *memory.Report
	Err    error
}

// Deny keeps a call from running. The model reads the reason, and the run continues.
func Deny(reason string) error { return &tools.DenyError{Reason: reason} }

// Abort ends the run. Its Result has err as the reason.
func Abort(err error) error { return &AbortError{Err: cmp.Or(err, errNoReason)} }

// SendBack is advice to a model that has ended its turn: the model reads what is missing, and goes
// on. It is for BeforeFinish. A hook can send a run back Limits.SendBacks times (2). If the hook
// still wants more then, the run completes, [Result].Missing has what it wanted, and so has the
// log. See [Require] for what a run must not complete without.
func SendBack(what string) error { return &sendBackError{what: machine.ValidText(what)} }

// Warn changes nothing, but the model reads the warning.
func Warn(text string) error { return &warnError{machine.ValidText(text)} }

// An AbortError ended a run.
type AbortError struct {
	Hook string
	Err  error
}

// Error says which hook aborted the run and why.
func (e *AbortError) Error() string {
	why := cmp.Or(e.Err, errNoReason)
	if e.Hook == "" {
		return "agent: aborted: " + why.Error()
	}
	return fmt.Sprintf("agent: aborted by hook %q: %v", e.Hook, why)
}

var errNoReason = errors.New("no reason was given")

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Err }

type sendBackError struct{ what string }

func (e *sendBackError) Error() string { return "agent: sent back: " + e.what }

type warnError struct{ text string }

func (e *warnError) Error() string { return "agent: warning: " + e.text }

// A HookError is the failure of a hook that isn't an Observer.
type HookError struct {
	Hook  string
	Point string // the field of Hooks
	Err   error
}

// Error says which hook failed and how.
func (e *HookError) Error() string {
	return fmt.Sprintf("agent: hook %q failed in %s: %v", e.Hook, e.Point, e.Err)
}

// Unwrap returns the cause.
func (e *HookError) Unwrap() error { return e.Err }

// Fault returns Permanent, whatever class the cause has.
func (e *HookError) Fault() fault.Class { return fault.Permanent }

// callHook is Agent.callHook for a hook of a run.
func (l *sessionLog) callHook(h *Hooks, point string, fn func() error) (warning string, err error) {
	return l.agent.callHook(l.ctx, l.Name, h, point, fn)
}

// hookAnswers has the points at which a hook may return more than an error that ends the run. At
// other points, Deny ends the run, SendBack is a mistake, and what a hook warns of is logged.
var hookAnswers = map[string]struct{ deny, sendBack, warn bool }{
	"BeforeStep":   {warn: true},
	"BeforeTool":   {deny: true, warn: true},
	"AfterTool":    {warn: true},
	"BeforeFinish": {sendBack: true},
}

// callHook calls one hook and contains its panic. It logs errors that change nothing, and returns
// the others, and what the hook warns of.
func (a *Agent) callHook(ctx context.Context, session string, h *Hooks, point string,
	fn func() error) (warning string, err error) {
	if err = contained(fn); err == nil {
		return "", nil
	}
	logger := a.logger.With("hook", h.Name, "point", point, "session", session)
	if h.Observer {
		logger.WarnContext(ctx, "agent: an observer failed", "error", err)
		return "", nil
	}
	var (
		abort *AbortError
		deny  *tools.DenyError
		back  *sendBackError
		warn  *warnError
	)
	switch may := hookAnswers[point]; {
	case errors.As(err, &abort):
		return "", &AbortError{Hook: h.Name, Err: abort.Err}
	case errors.As(err, &deny) && !may.deny: // there is no call to deny: it is the run that is denied
		return "", &AbortError{Hook: h.Name, Err: err}
	case errors.As(err, &back) && !may.sendBack:
		err = fmt.Errorf("SendBack is for BeforeFinish: %w", err)
	case errors.As(err, &deny), errors.As(err, &back):
		return "", err
	case errors.As(err, &warn) && may.warn:
		return warn.text, nil
	case errors.As(err, &warn): // no model reads it
		logger.WarnContext(ctx, "agent: a hook warns", "warning", warn.text)
		return "", nil
	}
	logger.ErrorContext(ctx, "agent: a guard failed", "error", err)
	return "", &HookError{Hook: h.Name, Point: point, Err: err}
}

// hooksAt returns the hooks that have a function at a point, in order.
func (a *Agent) hooksAt(has func(*Hooks) bool) (hooks []*Hooks) {
	for i := range a.cfg.Hooks {
		if h := &a.cfg.Hooks[i]; has(h) {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// A TextSource says where a text from outside comes from.
type TextSource string

// The sources of texts from outside.
const (
	FromPrompt   TextSource = "prompt"   // Input.Prompt, and each text of Input.Parts
	FromHistory  TextSource = "history"  // each text of Input.History, including inputs and results of calls
	FromSteering TextSource = "steering" // Session.Steer
	FromReason   TextSource = "reason"   // of a decision: why a call is rejected, or what is suggested instead
	FromAnswer   TextSource = "answer"   // the value of Answer: its text if it is a string, else JSON
	FromEdit     TextSource = "edit"     // the input of Edit, as JSON
)

// An IncomingText is a text from outside, for Hooks.BeforeInput, which may change Text. It isn't
// redacted.
type IncomingText struct {
	Session string
	Source  TextSource
	User    string // who has written it, as far as the caller says
	Pause   string // the id of the pause, for the text of a decision
	Text    string
}

// beforeInput calls the BeforeInput hooks with a text and returns the text that they leave. An
// empty text isn't shown to them.
func (a *Agent) beforeInput(ctx context.Context, t IncomingText) (string, error) {
	if t.Text == "" {
		return "", nil
	}
	for _, h := range a.hooksAt(func(h *Hooks) bool { return h.BeforeInput != nil }) {
		_, err := a.callHook(ctx, t.Session, h, "BeforeInput", func() error { return h.BeforeInput(ctx, &t) })
		var abort *AbortError
		switch {
		case errors.As(err, &abort):
			return "", refusedBy(h.Name, &t, abort.Err)
		case err != nil:
			return "", refusedBy(h.Name, &t, err)
		}
	}
	return t.Text, nil
}

func refusedBy(hook string, t *IncomingText, err error) error {
	return &SessionError{Session: t.Session, Code: ErrRefused, Err: err,
		Problem: fmt.Sprintf("hook %q refused the text of source %q", hook, t.Source)}
}

// screen passes the texts of a job to the BeforeInput hooks, before its session is touched.
// The task of a subagent isn't a text from outside, and decisions in a subagent's session were seen
// in the parent's.
func (a *Agent) screen(ctx context.Context, session string, j *job) (err error) {
	if j.screened || j.parent != nil || len(a.hooksAt(func(h *Hooks) bool { return h.BeforeInput != nil })) == 0 {
		return nil
	}
	j.screened = true
	if j.resumes() {
		m, err := a.sessions.Load(ctx, session)
		if err == nil {
			j.decisions, err = a.screenDecisions(ctx, m, j.decisions)
		}
		return err
	}
	in := j.start
	screen := func(source TextSource) machine.Redactor {
		return func(text string) string {
			if err == nil {
				text, err = a.beforeInput(ctx,
					IncomingText{Session: session, Source: source, User: in.User, Text: text})
			}
			return text
		}
	}
	prompt := screen(FromPrompt)
	in.Prompt, in.Parts = prompt(in.Prompt), slices.Clone(in.Parts)
	for i := range in.Parts {
		if p := &in.Parts[i]; p.Kind == provider.PartText {
			p.Text = prompt(p.Text)
		}
	}
	in.History = screen(FromHistory).Messages(in.History) // it visits each text
	if err != nil {
		return err
	}
	return j.check(a) // once more: the hooks may have changed it
}

// screenDecisions passes the texts of decisions to the BeforeInput hooks, and returns the decisions
// with the texts that these leave. m is the session's. An answer isn't passed if it isn't recorded,
// or its pause isn't open, so that it is refused.
func (a *Agent) screenDecisions(ctx context.Context, m *machine.Machine, decisions []Decision) (_ []Decision,
	err error) {
	own := slices.Clone(decisions)
	for i := range own {
		d := &own[i]
		if d.Err() != nil {
			continue // it is refused anyway
		}
		t := IncomingText{Session: m.State().Session, User: d.User, Pause: d.ID, Source: FromReason, Text: d.Reason}
		if d.Reason, err = a.beforeInput(ctx, t); err != nil {
			return nil, err
		}
		t.Source = FromAnswer
		if _, p := m.State().Run.Suspended(d.ID); p != nil && p.Kind != machine.PauseSecret {
			d.Value, err = a.screenJSON(ctx, t, d.Value)
		}
		if err != nil {
			return nil, err
		}
		t.Source = FromEdit
		if d.Input, err = a.screenJSON(ctx, t, d.Input); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// screenJSON is beforeInput for a JSON value.
func (a *Agent) screenJSON(ctx context.Context, t IncomingText, value json.RawMessage) (json.RawMessage, error) {
	var text string
	isText := json.Unmarshal(value, &text) == nil && string(value) != "null"
	if t.Text = string(value); isText {
		t.Text = text
	}
	out, err := a.beforeInput(ctx, t)
	switch {
	case err != nil:
		return nil, err
	case out == t.Text:
		return value, nil
	case isText:
		return machine.Marshal(machine.ValidText(out))
	case !json.Valid([]byte(out)):
		return nil, &DecisionError{Session: t.Session, ID: t.Pause, Code: machine.DecisionBad,
			Problem: "a BeforeInput hook has replaced its value by what is no JSON"}
	}
	return json.RawMessage(out), nil
}
