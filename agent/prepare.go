package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A base is what a model call is made of before hooks see it.
type base struct {
	system string
	// messages are those of the state, or, with context put in, a slice of their own.
	messages    []provider.Message
	own         bool
	context     *memory.Context // new with this step
	bare        string          // system, without what memory has added
	hostMessage string          // what the model is told with the step, as far as it was counted
}

// into puts what was prepared into a request that no hook has changed. The note of a step that is made again is among the
// messages already.
func (b *base) into(req *provider.Request, start *StepStarted, again bool) {
	req.System = b.system
	if !b.own {
		return
	}
	if req.Messages = b.messages; start.Note != "" && !again {
		req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)], memory.Told(start.Note))
	}
}

// A recollection is what the driver remembers of a session's memory. It belongs to the driving goroutine.
type recollection struct {
	compactor *memory.Compactor
	context   memory.Context       // in force
	asked     bool                 // context is up to date
	phase     string               // when the last call was prepared
	done      int                  // calls of Memory.SubgoalDone that had succeeded then
	counted   bool                 // the request under way is the one that was counted last
	system    string               // of the step before, with Config.Compose
	marks     []*memory.Thresholds // of Memory.ProgressNotes
	full      *memory.Thresholds   // of Memory.ContextReset
}

// prepare makes a model call ready: the system text, the conversation within the window, the context. It reports false if
// the run has ended, or is to end: no call can be made then.
func (x *exec) prepare(start *StepStarted, mode *mode) (b base, ok bool) {
	b = base{system: mode.system, messages: x.m.s.Messages}
	if x.a.cfg.Compose != nil {
		text, err := x.compose(mode.Name)
		if err != nil {
			x.finish(Failed, CodeHost, fmt.Errorf("agent: composing the system text: %w", err))
			return b, false
		}
		b.system = text
	}
	b.bare = b.system
	if x.a.memory == nil {
		return b, true
	}
	if x.recall.compactor == nil && !x.remember() {
		return b, false
	}
	x.recall.compactor.SetWindow(x.a.memory.window(start.Model))
	b.context = x.freshContext(mode)
	req := x.request(start, mode, nil)
	req.System = b.system
	if done, ok := x.milestones(start, req, len(x.a.memory.Rules) == 0); done || !ok {
		return b, false
	}
	p := x.fit(&b, req, start.Note)
	if p == nil {
		return b, false
	}
	if start.Final == "" && len(x.a.memory.Rules) > 0 && x.resetContextIfDue(share(p.Count.Total, p.Budget), x.request(start, mode, nil), p.Budget) {
		return b, false
	}
	return b, !x.abandoned && x.ctx.Err() == nil
}

// fit brings a request within the window, and puts what came of it into b. note is what the model is told with it. It returns nil
// if no call can be made.
func (x *exec) fit(b *base, req *provider.Request, hostMessage string) *memory.Prepared {
	more := x.recall.context
	more.Goal = x.m.s.Run.First
	if x.m.s.Run.Stage != stageCalling { // else it is in the conversation already
		more.Told = hostMessage
	}
	usage, cost, _ := x.recall.compactor.Used()
	p, err := x.recall.compactor.Prepare(x.ctx, req, more, x.memoryEvents()...)
	if err != nil {
		x.bookFailedCompaction(x.recall.compactor, usage, cost, err)
		if x.ctx.Err() == nil { // else loop ends the run for the reason that its context ended
			x.finish(Failed, CodeContext, fmt.Errorf("agent: session %q: %w", x.s.name, err))
		}
		return nil
	}
	for _, w := range p.Warnings {
		x.warn(w)
	}
	if p.Report != nil && x.recordCompaction(p) != nil {
		return nil
	}
	b.system, b.messages, b.own, b.hostMessage, x.recall.counted = p.Request.System, x.m.s.Messages, false, hostMessage, true
	if more.Screen != "" || len(more.Fetched) > 0 {
		b.messages, b.own = x.withContext(p), true
	}
	return p
}

// refit brings a request within the window once more if hooks have added to what the model is told with it. It reports false if no
// call can be made.
func (x *exec) refit(b *base, start *StepStarted, mode *mode, step *Step) bool {
	if x.a.memory == nil || step == nil || step.changed || step.answer != nil || start.Note == b.hostMessage || x.m.s.Run.Stage == stageCalling {
		return true
	}
	req := x.request(start, mode, nil)
	req.System = b.bare
	return x.fit(b, req, start.Note) != nil && !x.abandoned && x.ctx.Err() == nil
}

// withContext returns the messages of a request with the context in them. Those that a compaction has written are as they were
// recorded: redacted.
func (x *exec) withContext(p *memory.Prepared) []provider.Message {
	out, state := p.Request.Messages, x.m.s.Messages
	if x.a.cfg.Redact == nil || p.Report == nil || len(out) != len(state) {
		return out
	}
	out = slices.Clone(out)
	for i := range out {
		if now, was := out[i:i+1], p.Messages[i:i+1]; sameMessages(now, was) {
			out[i] = state[i]
		} else { // the one that holds the context
			out[i].Parts = x.redactParts(out[i].Parts)
		}
	}
	return out
}

// milestones writes the notes that are due, and resets the context if that is due before a compaction. It reports whether it
// did, and false if the run is to end.
func (x *exec) milestones(start *StepStarted, req *provider.Request, mayReset bool) (done, ok bool) {
	g := x.a.memory
	if len(g.ProgressNotes) == 0 && g.ContextReset == nil || start.Final != "" {
		return false, true
	}
	budget := g.window(start.Model).Budget(req)
	now := share(x.recall.compactor.Meter().Count(req).Total, budget)
	if x.writeDueNotes(now, req, budget) != nil {
		return false, false
	}
	if mayReset && x.resetContextIfDue(now, req, budget) {
		return true, true
	}
	return false, x.ctx.Err() == nil && !x.abandoned
}

func share(total, budget int) float64 { return float64(total) / float64(max(budget, 1)) }

// compose asks the host for the system text.
func (x *exec) compose(mode string) (text string, err error) {
	defer contain(&err)
	text, err = x.a.cfg.Compose(mode)
	return x.hostText(text), err
}

// remember makes the session's compactor.
func (x *exec) remember() bool {
	c, err := x.a.memory.compactor(x.s.name)
	if err != nil {
		x.finish(Failed, CodeContext, fmt.Errorf("agent: session %q: its memory: %w", x.s.name, err))
		return false
	}
	x.recall.compactor, x.recall.phase, x.recall.done = c, x.m.s.Phase, x.subgoalsDone()
	return true
}

func (x *exec) subgoalsDone() int {
	return x.m.s.Run.Tools.of(x.a.memory.SubgoalDone).OK
}

// memoryEvents returns what has happened since the last call was prepared.
func (x *exec) memoryEvents() (events []memory.Event) {
	if x.m.s.Phase != x.recall.phase {
		events = append(events, memory.PhaseChanged)
	}
	done := x.subgoalsDone()
	if done != x.recall.done {
		events = append(events, memory.SubgoalDone)
	}
	x.recall.phase, x.recall.done = x.m.s.Phase, done
	return events
}

// freshContext asks the host for the context if what it said before no longer holds. It returns what is new.
func (x *exec) freshContext(mode *mode) *memory.Context {
	ask := x.a.memory.Context
	if ask == nil || x.recall.asked {
		return nil
	}
	in := ContextInput{Session: x.s.name, Run: x.origin.Run, Mode: mode.Name, Phase: x.m.s.Phase, Task: x.m.s.Run.Task, Text: x.m.s.heard()}
	c, err := func(ctx context.Context) (c memory.Context, err error) {
		defer contain(&err)
		return ask(ctx, in)
	}(x.ctx)
	if limit := x.m.s.Run.Limits.PromptBytes; err == nil && limit >= 0 && contextBytes(&c) > limit {
		err = &LimitError{Limit: LimitPromptBytes, Max: int64(limit), Have: int64(contextBytes(&c)), Note: "return less"}
	}
	if err != nil {
		x.warn("Memory.Context: " + err.Error())
		return nil
	}
	c = memory.Context{User: x.hostText(c.User), Screen: x.hostText(c.Screen), Fetched: append([]memory.Fetched(nil), c.Fetched...)}
	for i := range c.Fetched {
		c.Fetched[i] = memory.Fetched{Name: x.hostText(c.Fetched[i].Name), Text: x.hostText(c.Fetched[i].Text)}
	}
	x.recall.context, x.recall.asked = c, true
	return &c
}

func contextBytes(c *memory.Context) int {
	n := len(c.User) + len(c.Screen)
	for i := range c.Fetched {
		n += len(c.Fetched[i].Name) + len(c.Fetched[i].Text)
	}
	return n
}

// hostText returns a text of the host's as a log and a model may have it.
func (x *exec) hostText(s string) string { return x.a.redact(strings.ToValidUTF8(s, "\uFFFD")) }

// warn shows and logs that something is wrong with the memory.
func (x *exec) warn(text string) {
	text = x.a.redact(text)
	x.a.log.WarnContext(x.ctx, "agent: memory", "session", x.s.name, "run", x.origin.Run, "warning", text)
	x.show(MemoryWarning{Meta: x.eventMeta(), Text: text})
}

// learn tells the memory what the provider counted.
func (x *exec) learn(usage *provider.Usage) {
	if x.recall == nil {
		return
	}
	if x.recall.counted && !usage.Estimated {
		x.recall.compactor.Meter().Learn(int(usage.Input))
	}
	x.recall.counted = false
}
