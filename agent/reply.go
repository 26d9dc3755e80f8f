package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
	"github.com/pawlkit/pawl/tools"
)

// A reply collects the reply of the current model call.
type reply struct {
	receive   func(provider.Chunk, error) bool // model.receive
	collector provider.Collector
	err       error
	calls     []begunCall // the calls that have begun
	size      output.Size
	attempts  []error // the errors of the attempts before the last
	unmetered bool    // the reply is complete and has no usage

	texts  group[TextDelta]
	deltas group[CallDelta]
}

// A group allocates values together, for the notes of which a reply has hundreds. The groups grow
// from 1 to 16 values, so that a short reply takes no more than it needs.
type group[T any] struct {
	free []T
	last int // the size of the last group
}

func (b *group[T]) next() *T {
	if len(b.free) == 0 {
		b.last = min(max(2*b.last, 1), 16)
		b.free = make([]T, b.last)
	}
	v := &b.free[0]
	b.free = b.free[1:]
	return v
}

// reset makes r ready for the next model call. It keeps the memory of the last one.
func (r *reply) reset() {
	r.collector.Reset()
	r.err, r.calls, r.attempts, r.size, r.unmetered = nil, r.calls[:0], nil, output.Size{}, false
}

// A begunCall is a call of a reply that isn't complete.
type begunCall struct {
	id    string
	index int32 // the provider's
	open  bool  // its arguments are coming in
}

// receive collects and shows a chunk. It returns false if no more are wanted.
func (m *model) receive(c provider.Chunk, err error) bool {
	if m.consumer.left || m.reply.err != nil {
		return false
	}
	if err == nil && m.log.ctx.Err() != nil { // the provider ignores it
		err = context.Cause(m.log.ctx)
	}
	if err == nil {
		err = m.reply.size.Add(&c)
	}
	if err == nil {
		err = m.reply.collector.Add(c)
	}
	if err != nil {
		m.reply.err = usable(err)
		return false
	}
	m.reply.unmetered = c.Kind == provider.KindEnd && c.Extra.Usage == nil
	if ev := m.eventOf(&c); ev != nil {
		m.consumer.show(ev) // at once: what others queue meanwhile is shown by the next flush
	}
	return !m.consumer.left
}

// eventOf returns the note for a chunk; nil if there is none. It doesn't show it itself, so that
// its large frame isn't on the stack while the consumer reads.
func (m *model) eventOf(c *provider.Chunk) Event {
	switch c.Kind {
	case provider.KindWaiting:
		return &Waiting{NoteMeta: m.log.noteMeta(), Wait: *c.Extra.Wait}
	case provider.KindReset:
		m.reply.calls = m.reply.calls[:0]
		return &Reset{NoteMeta: m.log.noteMeta(), Why: c.Text}
	}
	if !m.log.deltas {
		return nil
	}
	switch c.Kind {
	case provider.KindText, provider.KindRefusal:
		ev := m.reply.texts.next()
		*ev = TextDelta{NoteMeta: m.log.noteMeta(), Index: m.reply.collector.Last(), Text: c.Text}
		return ev
	case provider.KindReasoning:
		return &ReasoningDelta{NoteMeta: m.log.noteMeta(), Index: m.reply.collector.Last(), Text: c.Text}
	case provider.KindProviderCall, provider.KindProviderResult, provider.KindSource, provider.KindFile:
		return &PartAdded{NoteMeta: m.log.noteMeta(), Index: m.reply.collector.Last(),
			Part: &provider.Normalize([]provider.Part{*c.Extra.Part})[0]}
	case provider.KindToolStart: // its name is the one that the reply will have
		meta := m.log.noteMeta()
		meta.Call = machine.CallID(meta.Run(), meta.Step, len(m.reply.calls))
		m.reply.calls = append(m.reply.calls, begunCall{id: meta.Call, index: c.Index, open: true})
		return &CallBegun{NoteMeta: meta, Index: m.reply.collector.Last(), Name: m.callName(c.Name)}
	case provider.KindToolDelta:
		if call := m.reply.open(c.Index); call != nil {
			meta := m.log.noteMeta()
			meta.Call = call.id
			ev := m.reply.deltas.next()
			*ev = CallDelta{NoteMeta: meta, Index: m.reply.collector.Last(), Text: c.Text}
			return ev
		}
	case provider.KindToolEnd:
		if call := m.reply.open(c.Index); call != nil {
			call.open = false
		}
	}
	return nil
}

// open returns the call whose arguments are coming in with the provider's index; nil if there is
// none.
func (r *reply) open(index int32) *begunCall {
	for i := range r.calls {
		if call := &r.calls[i]; call.index == index && call.open {
			return call
		}
	}
	return nil
}

// answer returns the reply of the model, or of the hook that answers in its place.
func (m *model) answer(c *modelCall) (*provider.Response, error) {
	m.reply.reset()
	if c.answered() {
		return m.answerOf(c.hooked), nil
	}
	c.request = m.requestOf(c)
	err := m.call(c.request)
	if refused := m.refusedForLength(err); refused != nil {
		err = m.askShorter(c, refused, err)
	}
	if err != nil {
		m.reply.err = err
		return nil, err
	}
	resp := m.reply.collector.Final()
	if c.hooked != nil { // hooks get it, and may keep it
		resp = m.reply.collector.Response()
	}
	if m.reply.unmetered {
		resp.Usage = guard.Estimate(c.request, resp.Parts)
	}
	m.window.learn(&resp.Usage)
	return resp, nil
}

// answerOf shows the reply that a hook has given.
func (m *model) answerOf(step *Step) *provider.Response {
	for i := range step.answer.Parts {
		if p := &step.answer.Parts[i]; p.Kind == provider.PartText && p.Text != "" {
			m.consumer.tell(&TextDelta{NoteMeta: m.log.noteMeta(), Index: i, Text: p.Text})
		}
	}
	return m.ownReply(step.answer)
}

// call makes the model call, and returns its error.
func (m *model) call(req *provider.Request) error {
	m.reply.size = output.SizeOf(req, m.log.Run().Limits.ReplyBytes)
	m.stream(req)
	switch {
	case m.consumer.left:
		return errLeft
	case m.reply.err == nil && !m.reply.collector.Complete():
		return provider.ErrIncomplete
	}
	return m.reply.err
}

// replied calls the hooks for a complete reply and appends it.
func (m *model) replied(c *modelCall, resp *provider.Response) *outcome {
	answered, usage := resp.Model, resp.Usage // hooks may change them
	if c.answered() {
		usage = provider.Usage{}
	}
	resp.Parts = m.agent.redact.Parts(resp.Parts)
	m.nameCalls(resp)
	if err := m.afterStep(c.hooked, resp); err != nil {
		m.log.Cancel(err)
		return m.stepFailed(nil, err)
	}
	if c.hooked != nil { // hooks may have changed it, and may still use it
		resp = m.ownReply(resp)
		m.nameCalls(resp)
	}
	f := &Replied{Message: resp.Message(), Stop: resp.Stop, Model: resp.Model,
		ResponseID: resp.ID, Usage: usage}
	f.Outside = machine.OutsideInReply(&f.Message)
	f.Cost, f.Priced = provider.CostOf(m.known.by(m.agent.provider, m.log.Run().Model), answered, usage)
	if err := m.pending.appendReply(f); err == session.ErrTooLarge {
		return m.failStep(&machine.StepFailed{Usage: f.Usage, Cost: f.Cost, Priced: f.Priced},
			fault.Errorf(fault.Permanent, "agent: the answer is larger than a record of the journal, which has at most "+
				"%d bytes; ask for less, or set Params.MaxOutput", m.agent.sessions.Record))
	}
	return goOn
}

// ownReply returns a copy of a reply of the host, in the form of a model's reply.
func (m *model) ownReply(resp *provider.Response) *provider.Response {
	own := *resp
	own.Parts = m.agent.redact.Parts(provider.Normalize(resp.Parts))
	own.Model, own.ID = machine.ValidText(resp.Model), machine.ValidText(resp.ID)
	if own.Stop == "" {
		own.Stop = provider.StopDone
	}
	return &own
}

// nameCalls gives the calls of a reply their ids, and removes what a journal couldn't return.
func (m *model) nameCalls(resp *provider.Response) {
	resp.Parts = slices.DeleteFunc(resp.Parts, func(p provider.Part) bool {
		// only hooks can have put these
		return p.Kind == provider.PartToolCall && p.Call == nil || p.Kind == provider.PartToolResult
	})
	n := 0
	for i := range resp.Parts {
		p := &resp.Parts[i]
		if p.Call != nil && machine.TooDeep(p.Call.Input) {
			p.Call.Input, p.Call.Invalid = nil, string(p.Call.Input)
		}
		if p.Kind != provider.PartToolCall {
			continue
		}
		p.Call.Name = m.callName(p.Call.Name)
		if n == len(m.reply.calls) { // else it has the id with which it was shown as it began
			id := machine.CallID(m.log.Origin().Run, m.log.Run().Step, n)
			m.reply.calls = append(m.reply.calls, begunCall{id: id})
		}
		if id := m.reply.calls[n].id; p.Call.ID != id {
			p.Call.ProviderID, p.Call.ID = p.Call.ID, id
		}
		n++
	}
}

// callName returns the name of a call as it is recorded. A name that no tool has is the model's
// text: it is redacted, and cut to what a journal accepts as a name.
func (m *model) callName(name string) string {
	if _, ok := m.log.toolset().registry.Lookup(name); ok {
		return name
	}
	return machine.CleanName(m.agent.redact.Text(name))
}

// stepFailed appends that a model call failed. Text that was shown is kept; calls in it never run.
// If the provider hasn't reported the usage of a partial reply to a request, it is estimated.
func (m *model) stepFailed(req *provider.Request, err error) *outcome {
	partial := m.reply.collector.Response()
	if partial.Usage.Total() == 0 && req != nil && len(partial.Parts) > 0 {
		partial.Usage = guard.Estimate(req, partial.Parts)
	}
	var keep []provider.Part
	for _, p := range partial.Parts {
		if p.Kind == provider.PartText && p.Text != "" {
			keep = append(keep, m.reply.size.Shorten(p))
		}
	}
	f := &machine.StepFailed{Usage: partial.Usage}
	f.Cost, f.Priced = provider.CostOf(m.known.by(m.agent.provider, m.log.Run().Model), partial.Model,
		partial.Usage)
	if len(keep) > 0 {
		f.Partial = provider.Message{Role: provider.RoleAssistant, Parts: keep}
	}
	return m.failStep(f, err)
}

// failStep appends that the model call failed, and returns how the run ends. If the run goes on
// elsewhere, the call is made again there, and nothing is appended.
func (m *model) failStep(f *machine.StepFailed, err error) *outcome {
	if m.log.Yields() {
		return goOn
	}
	f.Class, f.Error = fault.Of(err), tools.Cut(m.agent.redact.Text(err.Error()), tools.DefaultMaxResult)
	if m.log.append(f) != nil {
		return goOn
	}
	m.consumer.flush()
	if m.reply.size.Exceeded() && !m.consumer.left {
		return stopping(machine.CodeLimit, m.reply.err)
	}
	if out := m.inbox.interruption(); out != nil { // rather than for the failure
		return out
	}
	if provider.Canceled(err) {
		return stopping(machine.CodeCanceled, &StopError{Code: machine.CodeCanceled, Err: err})
	}
	m.escalateModel(err)
	switch {
	case errors.As(err, new(*ContextLengthError)):
		return failing(machine.CodeContext, err)
	case errors.As(err, new(*budget.Error)):
		return failing(machine.CodeBudget, err)
	}
	return failing(machine.CodeProvider, err)
}

// stream makes the model call: it shows the chunks of the reply and collects them. A panic of the
// provider becomes the error of the call. One of the consumer goes on.
func (m *model) stream(req *provider.Request) {
	returned := false
	defer func() {
		if returned || m.consumer.yielding {
			return
		}
		if v := recover(); v != nil {
			m.reply.err = contain.Panicked(v)
		}
	}()
	if m.attempts == nil {
		m.attempts = m.stops.halted(m.log.ctx)
	}
	ctx := m.attempts
	if own := m.spans.stepCtx(); own != m.log.ctx { // the step has a span of its own
		ctx = m.stops.halted(own)
	}
	m.agent.provider.Stream(ctx, req)(m.reply.receive)
	returned = true
	if p, ok := m.reply.err.(*stream.PanicError); ok { // what wraps one says more
		m.reply.err = &tools.PanicError{In: "the provider", Value: p.Value, Stack: p.Stack}
	}
}

// escalateModel shows that the model can't be called.
func (m *model) escalateModel(err error) {
	attempts := 0
	var gave *guard.GaveUpError
	if errors.As(err, &gave) {
		attempts = gave.Attempts
		if n := len(gave.Errors); n > 1 && len(m.reply.attempts) == 0 { // a guard of the host's
			m.reply.attempts = slices.Clone(gave.Errors[:n-1])
		}
	}
	m.consumer.tell(m.log.escalation(m.log.noteMeta(), "", fault.Of(err), err, err.Error(), attempts, m.reply.attempts))
}
