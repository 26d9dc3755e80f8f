package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A reply collects the reply of the current model call.
type reply struct {
	take      func(provider.Chunk, error) bool // model.take
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

// take collects and shows a chunk. It returns false if no more are wanted.
func (m *model) take(c provider.Chunk, err error) bool {
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
