package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A prepared holds what a model call is made of, before hooks change it.
type prepared struct {
	system string
	// messages are those of the state, or, with context put in, a slice of their own.
	messages []provider.Message
	own      bool
	context  *memory.Context // new with this step
	plain    string          // system, without what memory has added
	note     string          // the note of the step, as far as it was counted
}

// into puts the prepared parts into a request that no hook has changed. The note of a step that is
// made again is in the messages already.
func (p *prepared) into(req *provider.Request, start *StepStarted, again bool) {
	req.System = p.system
	if !p.own {
		return
	}
	if req.Messages = p.messages; start.Note != "" && !again {
		req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)], memory.HostMessage(start.Note))
	}
}

// A memoryState is the driver's state for Config.Memory and Config.Compose. It belongs to the
// driving goroutine.
type memoryState struct {
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

// prepare prepares a model call: the system text, a conversation that fits the window, and the
// context. It returns false if no call can be made because the run has ended, will end, or was
// replaced by a context reset.
func (x *driver) prepare(start *StepStarted, mode *mode) (b prepared, ok bool) {
	b = prepared{system: mode.system, messages: x.State().Messages}
	if x.agent.cfg.Compose != nil {
		text, err := x.compose(x.stepCtx(), mode)
		if err != nil {
			x.finish(Failed, machine.CodeHost, fmt.Errorf("agent: composing the system text: %w", err))
			return b, false
		}
		b.system = text
	}
	b.plain = b.system
	if x.agent.memoryConfig == nil {
		return b, true
	}
	if x.memory.compactor == nil && !x.makeCompactor() {
		return b, false
	}
	x.memory.compactor.SetWindow(x.agent.memoryConfig.window(start.Model))
	b.context = x.freshContext(mode)
	req := x.request(start, mode, nil)
	req.System = b.system
	if done, ok := x.writeNotes(start, req, len(x.agent.memoryConfig.Rules) == 0); done || !ok {
		return b, false
	}
	p := x.fit(&b, req, start.Note)
	if p == nil {
		return b, false
	}
	if start.Final == "" && len(x.agent.memoryConfig.Rules) > 0 &&
		x.resetContextIfDue(share(p.Count.Total, p.Budget), x.request(start, mode, nil), p.Budget) {
		return b, false
	}
	return b, !x.left && x.ctx.Err() == nil
}

// fit makes a request fit the window, compacting the conversation if necessary, and puts the
// outcome into b. note is the note of the step. It returns nil if no call can be made.
func (x *driver) fit(b *prepared, req *provider.Request, note string) *memory.Prepared {
	more := x.memory.context
	more.Goal = x.Run().First
	if x.Run().Stage != machine.StageCalling { // else it is in the conversation already
		more.HostNote = note
	}
	c, ctx, events := x.memory.compactor, x.stepCtx(), x.memoryEvents()
	p, err := x.compacting(ctx, c, func() (*memory.Prepared, error) { return c.Prepare(ctx, req, more, events...) })
	if err != nil {
		if x.ctx.Err() == nil { // else loop ends the run for the reason that its context ended
			x.finish(Failed, machine.CodeContext, fmt.Errorf("agent: session %q: %w", x.Name, err))
		}
		return nil
	}
	if b.note = note; !x.takePrepared(b, p, &more) {
		return nil
	}
	return p
}

// takePrepared appends the compaction of a prepared request, if there was one, and puts the request
// into b. It returns false if no call can be made.
func (x *driver) takePrepared(b *prepared, p *memory.Prepared, more *memory.Context) bool {
	for _, w := range p.Warnings {
		x.memoryWarning(w)
	}
	if p.Report != nil && x.appendCompaction(p) != nil {
		return false
	}
	b.system, b.messages, b.own, x.memory.counted = p.Request.System, x.State().Messages, false, true
	if more.Screen != "" || len(more.Fetched) > 0 {
		b.messages, b.own = x.withContext(p), true
	}
	return true
}

// prepareAgain makes a request fit the window once more if hooks have added to the note of the
// step. It returns false if no call can be made.
func (x *driver) prepareAgain(b *prepared, start *StepStarted, mode *mode, step *Step) bool {
	if x.agent.memoryConfig == nil || step == nil || step.changed || step.answer != nil || start.Note == b.note ||
		x.Run().Stage == machine.StageCalling {
		return true
	}
	req := x.request(start, mode, nil)
	req.System = b.plain
	return x.fit(b, req, start.Note) != nil && !x.left && x.ctx.Err() == nil
}

// withContext returns the messages of a request with the context in them. Messages that a
// compaction wrote are redacted, as they were recorded.
func (x *driver) withContext(p *memory.Prepared) []provider.Message {
	out, state := p.Request.Messages, x.State().Messages
	if x.agent.cfg.Redact == nil || p.Report == nil || len(out) != len(state) {
		return out
	}
	out = slices.Clone(out)
	for i := range out {
		if now, was := out[i:i+1], p.Messages[i:i+1]; sameMessages(now, was) {
			out[i] = state[i]
		} else { // the one that holds the context
			out[i].Parts = x.agent.redact.Parts(out[i].Parts)
		}
	}
	return out
}

// writeNotes writes the progress notes that are due, and resets the context if mayReset allows it
// and that is due. It reports whether it reset the context, and returns ok false if the run must
// end.
func (x *driver) writeNotes(start *StepStarted, req *provider.Request, mayReset bool) (done, ok bool) {
	g := x.agent.memoryConfig
	if len(g.ProgressNotes) == 0 && g.ContextReset == nil || start.Final != "" {
		return false, true
	}
	budget := g.window(start.Model).Budget(req)
	now := share(x.memory.compactor.Meter().Count(req).Total, budget)
	if x.writeDueNotes(now, req, budget) != nil {
		return false, false
	}
	if mayReset && x.resetContextIfDue(now, req, budget) {
		return true, true
	}
	return false, x.ctx.Err() == nil && !x.left
}

func share(total, budget int) float64 { return float64(total) / float64(max(budget, 1)) }

// compose calls Config.Compose for the newest run.
func (l *sessionLog) compose(ctx context.Context, mode *mode) (text string, err error) {
	defer contain(&err)
	text, err = l.agent.cfg.Compose(ctx,
		ComposeInput{Session: l.Name, Run: l.Run().ID, Mode: mode.Name, User: l.Run().User, Labels: l.State().Labels})
	return l.agent.redact.Text(text), err
}

// makeCompactor makes the session's compactor. It returns false if it has ended the run.
func (x *driver) makeCompactor() bool {
	c, err := x.agent.memoryConfig.compactor(x.Name)
	if err != nil {
		x.finish(Failed, machine.CodeContext, fmt.Errorf("agent: session %q: its memory: %w", x.Name, err))
		return false
	}
	x.memory.compactor, x.memory.phase, x.memory.done = c, x.State().Phase, x.subgoalsDone()
	return true
}

func (x *driver) subgoalsDone() int {
	return x.Run().Tools[x.agent.memoryConfig.SubgoalDone].OK
}

// memoryEvents returns what has happened since the last model call was prepared.
func (x *driver) memoryEvents() (events []memory.Event) {
	if x.State().Phase != x.memory.phase {
		events = append(events, memory.PhaseChanged)
	}
	done := x.subgoalsDone()
	if done != x.memory.done {
		events = append(events, memory.SubgoalDone)
	}
	x.memory.phase, x.memory.done = x.State().Phase, done
	return events
}

// freshContext calls Memory.Context if its last value is out of date. It returns the new value, or
// nil.
func (x *driver) freshContext(mode *mode) *memory.Context {
	ask := x.agent.memoryConfig.Context
	if ask == nil || x.memory.asked {
		return nil
	}
	in := ContextInput{Session: x.Name, Run: x.Origin().Run, Mode: mode.Name, Phase: x.State().Phase,
		Task: x.Run().Task,
		Text: x.State().LastUserText()}
	var c memory.Context
	err := contained(func() (err error) {
		c, err = ask(x.stepCtx(), in)
		return err
	})
	if limit := x.Run().Limits.PromptBytes; err == nil && limit >= 0 && contextBytes(&c) > limit {
		err = &LimitError{Limit: machine.LimitPromptBytes, Max: int64(limit), Have: int64(contextBytes(&c)),
			Note: "return less"}
	}
	if err != nil {
		x.memoryWarning("Memory.Context: " + err.Error())
		return nil
	}
	c = memory.Context{User: x.agent.redact.Text(c.User), Screen: x.agent.redact.Text(c.Screen),
		Fetched: append([]memory.Fetched(nil), c.Fetched...)}
	for i := range c.Fetched {
		c.Fetched[i] = memory.Fetched{Name: x.agent.redact.Text(c.Fetched[i].Name),
			Text: x.agent.redact.Text(c.Fetched[i].Text)}
	}
	x.memory.context, x.memory.asked = c, true
	return &c
}

func contextBytes(c *memory.Context) int {
	n := len(c.User) + len(c.Screen)
	for i := range c.Fetched {
		n += len(c.Fetched[i].Name) + len(c.Fetched[i].Text)
	}
	return n
}

// learn passes the provider's token count to the memory.
func (x *driver) learn(usage *provider.Usage) {
	if x.memory == nil {
		return
	}
	if x.memory.counted && !usage.Estimated {
		x.memory.compactor.Meter().Learn(int(usage.Input))
	}
	x.memory.counted = false
}

// noteSystem puts the system text into the fact of a step if it differs from that of the step
// before.
func (x *driver) noteSystem(start *StepStarted, system string, step *Step) {
	if step != nil {
		system = step.System
	}
	if start.System = ""; system != x.memory.system {
		start.System = system
	}
	x.memory.system = system
}
