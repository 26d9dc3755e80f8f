package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
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

// A window makes the conversation that the model is shown fit its window.
type window struct {
	agent    *Agent
	log      *sessionLog
	consumer *consumer
	spans    *spans
	stops    *stops
	inbox    *inbox
	memory   *memoryState // nil without Config.Memory and Config.Compose
}

// A memoryState is a run's state for Config.Memory and Config.Compose. It belongs to the driving
// goroutine.
type memoryState struct {
	compactor *memory.Compactor
	context   memory.Context // in force
	asked     int            // messages that had been delivered when context was asked for; -1: it wasn't
	phase     string         // when the last call was prepared
	done      int            // calls of Memory.SubgoalDone that had succeeded then
	counted   bool           // the request under way is the one that was counted last
	system    string         // of the step before, with Config.Compose
	notebook  notebook
}

// prepare prepares a model call: the system text, a conversation that fits the window, and the
// context. If no call can be made, because the run ends or was replaced by a context reset, it
// returns what comes instead.
func (w *window) prepare(c *modelCall) *outcome {
	b, start, mode := &c.prepared, c.start, c.mode
	*b = prepared{system: mode.system, messages: w.log.State().Messages}
	if w.agent.cfg.Compose != nil {
		text, err := w.log.compose(w.spans.stepCtx(), mode)
		if err != nil {
			return failing(machine.CodeHost, fmt.Errorf("agent: composing the system text: %w", err))
		}
		b.system = text
	}
	b.plain = b.system
	if w.agent.memoryConfig == nil {
		b.messages, b.own = machine.Shown(b.messages, false)
		return nil
	}
	if w.memory.compactor == nil {
		c, err := w.agent.memoryConfig.compactor(w.log.Name)
		if err != nil {
			return failing(machine.CodeHost, fmt.Errorf("agent: session %q: its memory: %w", w.log.Name, err))
		}
		w.memory.compactor, w.memory.phase, w.memory.done = c, w.log.State().Phase, w.subgoalsDone()
	}
	w.memory.compactor.SetWindow(w.agent.memoryConfig.window(start.Model))
	b.context = w.freshContext(mode)
	start.Context = b.context
	req := w.log.requestFor(start, mode)
	req.System = b.system
	if out := w.writeNotes(start, req, len(w.agent.memoryConfig.Rules) == 0); out != nil {
		return out
	}
	p, out := w.fit(b, req, start.Note)
	if out != nil {
		return out
	}
	if start.Final == "" && len(w.agent.memoryConfig.Rules) > 0 &&
		w.resetContextIfDue(share(p.Count.Total, p.Budget), w.log.requestFor(start, mode), p.Budget) {
		return goOn
	}
	return nil
}

// fit makes a request fit the window, compacting the conversation if necessary, and puts the
// outcome into b. note is the note of the step. If no call can be made, it returns what comes
// instead.
func (w *window) fit(b *prepared, req *provider.Request, note string) (*memory.Prepared, *outcome) {
	more := w.memory.context
	more.Goal = w.log.Run().First
	if w.log.Run().Stage != machine.StageCalling { // else it is in the conversation already
		more.HostNote = note
	}
	c, ctx, events := w.memory.compactor, w.stops.halted(w.spans.stepCtx()), w.memoryEvents()
	plan, err := abandonable(ctx, w.agent, "counting a request", w.log.Name, func() (*memory.Plan, error) {
		return c.Plan(ctx, req, more, events...)
	})
	var p *memory.Prepared
	if err == nil {
		p, err = w.compactingUnlessStopped(ctx, c, plan.Trigger, func() (*memory.Prepared, error) {
			return c.Run(ctx, plan)
		})
	}
	switch {
	case errors.Is(err, memory.ErrContextTooLarge):
		return nil, failing(machine.CodeContext, fmt.Errorf("agent: session %q: %w", w.log.Name, err))
	case err != nil:
		return nil, failing(machine.CodeHost, fmt.Errorf("agent: session %q: %w", w.log.Name, err))
	}
	if b.note = note; !w.adopt(b, p, &more) {
		return nil, goOn
	}
	return p, nil
}

// adopt appends the compaction of a prepared request, if there was one, and puts the request
// into b. It returns false if no call can be made.
func (w *window) adopt(b *prepared, p *memory.Prepared, more *memory.Context) bool {
	for _, text := range p.Warnings {
		w.consumer.memoryWarning(text)
	}
	if p.Report != nil && w.log.appendCompaction(p) != nil {
		return false
	}
	b.system, b.messages, b.own, w.memory.counted = p.Request.System, w.log.State().Messages, false, true
	if more.Screen != "" || len(more.Fetched) > 0 {
		b.messages, b.own = w.withContext(p), true
	}
	b.messages, b.own = machine.Shown(b.messages, b.own)
	return true
}

// prepareAgain makes a request fit the window once more if hooks have added to the note of the
// step. Its outcome is that of prepare.
func (w *window) prepareAgain(c *modelCall) *outcome {
	if w.agent.memoryConfig == nil || c.hooked == nil || c.changed() || c.answered() ||
		c.start.Note == c.prepared.note || w.log.Run().Stage == machine.StageCalling {
		return nil
	}
	req := w.log.requestFor(c.start, c.mode)
	req.System = c.prepared.plain
	_, out := w.fit(&c.prepared, req, c.start.Note)
	return out
}

// withContext returns the messages of a request with the context in them. Messages that a
// compaction wrote are redacted, as they were recorded.
func (w *window) withContext(p *memory.Prepared) []provider.Message {
	out, state := p.Request.Messages, w.log.State().Messages
	if w.agent.cfg.Redact == nil || p.Report == nil || len(out) != len(state) {
		return out
	}
	out = slices.Clone(out)
	for i := range out {
		if now, was := out[i:i+1], p.Messages[i:i+1]; sameMessages(now, was) {
			out[i] = state[i]
		} else { // the one that holds the context
			out[i].Parts = w.agent.redact.Parts(out[i].Parts)
		}
	}
	return out
}

// writeNotes writes the progress notes that are due, and resets the context if mayReset allows it
// and that is due. Its outcome is that of prepare.
func (w *window) writeNotes(start *StepStarted, req *provider.Request, mayReset bool) *outcome {
	g := w.agent.memoryConfig
	if len(g.ProgressNotes) == 0 && g.ContextReset == nil || start.Final != "" {
		return nil
	}
	budget := g.window(start.Model).Budget(req)
	now := share(w.memory.compactor.Meter().Count(req).Total, budget)
	err := w.memory.notebook.writeDueNotes(now, req, budget)
	if err == nil && mayReset && w.resetContextIfDue(now, req, budget) {
		return goOn
	}
	switch {
	case w.stops.stopped():
		return stopping(machine.CodeHost, &StopError{Code: machine.CodeHost, Err: errStopped})
	case err != nil:
		return goOn
	}
	return nil
}

// resetContextIfDue resets the context if that is due, and reports whether it did.
func (w *window) resetContextIfDue(share float64, req *provider.Request, budget int) bool {
	if !w.memory.notebook.resetContextIfDue(share, req, budget) {
		return false
	}
	w.memory.asked = -1
	return true
}

func share(total, budget int) float64 { return float64(total) / float64(max(budget, 1)) }

// compose calls Config.Compose for the newest run.
func (l *sessionLog) compose(ctx context.Context, mode *mode) (text string, err error) {
	defer contain.Panic(&err)
	text, err = l.agent.cfg.Compose(ctx,
		ComposeInput{Session: l.Name, Run: l.Run().ID, Mode: mode.Name, User: l.Run().User, Labels: l.State().Labels})
	return l.agent.redact.Text(text), err
}

func (w *window) subgoalsDone() int {
	return w.log.Run().Tools[w.agent.memoryConfig.SubgoalDone].OK
}

// memoryEvents returns what has happened since the last model call was prepared.
func (w *window) memoryEvents() (events []memory.Event) {
	if w.log.State().Phase != w.memory.phase {
		events = append(events, memory.PhaseChanged)
	}
	done := w.subgoalsDone()
	if done != w.memory.done {
		events = append(events, memory.SubgoalDone)
	}
	w.memory.phase, w.memory.done = w.log.State().Phase, done
	return events
}

// freshContext calls Memory.Context if its last value is out of date. It returns the new value, or
// nil.
func (w *window) freshContext(mode *mode) *memory.Context {
	ask := w.agent.memoryConfig.Context
	if ask == nil || w.memory.asked == w.inbox.delivered {
		return nil
	}
	in := ContextInput{Session: w.log.Name, Run: w.log.Origin().Run, Mode: mode.Name, Phase: w.log.State().Phase,
		Task: w.log.Run().Task,
		Text: w.log.State().LastUserText()}
	var c memory.Context
	err := contained(func() (err error) {
		c, err = ask(w.spans.stepCtx(), in)
		return err
	})
	size := len(c.User) + len(c.Screen)
	for i := range c.Fetched {
		size += len(c.Fetched[i].Name) + len(c.Fetched[i].Text)
	}
	if err == nil {
		err = checkSize(machine.LimitPromptBytes, w.log.Run().Limits.PromptBytes, size, "return less")
	}
	if err != nil {
		w.consumer.memoryWarning("Memory.Context: " + err.Error())
		return nil
	}
	own := w.agent.redact.Context(&memory.Context{User: c.User, Screen: c.Screen, Fetched: c.Fetched})
	w.memory.context, w.memory.asked = *own, w.inbox.delivered
	return own
}

// learn passes the provider's token count to the memory.
func (w *window) learn(usage *provider.Usage) {
	if w.memory == nil {
		return
	}
	if w.memory.counted && !usage.Estimated {
		w.memory.compactor.Meter().Learn(int(usage.Input))
	}
	w.memory.counted = false
}

// noteSystem puts the system text into the fact of a step if it differs from that of the step
// before.
func (w *window) noteSystem(c *modelCall) {
	system := c.prepared.system
	if c.hooked != nil {
		system = c.hooked.System
	}
	if c.start.System = ""; system != w.memory.system {
		c.start.System = system
	}
	w.memory.system = system
}
