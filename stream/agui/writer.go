package agui

import (
	"fmt"
	"slices"
)

// A GrammarError says that an event can't come at this point of a stream. Nothing of it was
// written, and the Writer can be used further.
type GrammarError struct {
	Type    string // of the event
	ID      string // of the message, call, step or run; may be empty
	Problem string // what is wrong, and what would be right
}

// Error says which event has which problem, and what would be right.
func (e *GrammarError) Error() string {
	if e.ID == "" {
		return "agui: " + e.Type + ": " + e.Problem
	}
	return fmt.Sprintf("agui: %s of %.64q: %s", e.Type, e.ID, e.Problem)
}

func refuse(e Event, id, format string, args ...any) error {
	return &GrammarError{Type: e.eventType(), ID: id, Problem: fmt.Sprintf(format, args...)}
}

// A Writer writes the events of a stream, which has one run or several in sequence, in an order
// that the protocol allows.
//
// It ends what is open. RunFinished ends everything, from the last opened to the first.
// ToolCallResult ends its call, and MessagesSnapshot the messages and calls that it doesn't have,
// because the client drops those.
//
// It writes chunks as start and content. A chunk's message or call stays open until it is ended, a
// chunk begins another one, or the run ends. Reasoning also ends when a text or a call goes on, or
// with its step. What has ended can be opened again, and goes on where it ended.
//
// It refuses everything that can't come with a *[GrammarError].
//
// A Writer is not safe for concurrent use.
type Writer struct {
	emit func(data []byte) error

	before10 bool

	phase  phase
	thread string // of the last run; empty before the first
	run    string
	open   []item   // in the order of their opening
	calls  []string // of the run, without a result, in their order
	done   []string // those with a result
	closed bool
	err    error // of emit
}

type phase uint8

const (
	unstarted phase = iota
	active
	finished
	failed
)

// A kind is a kind of thing that is open for a while. Ids are unique within a kind.
type kind struct{ name, event, content string }

var (
	textMessage = &kind{"text message", "TEXT_MESSAGE", "_CONTENT"}
	reasoning   = &kind{"reasoning message", "REASONING_MESSAGE", "_CONTENT"}
	toolCalls   = &kind{"tool call", "TOOL_CALL", "_ARGS"}
	step        = &kind{name: "step"}
)

// An item is something that is open.
type item struct {
	kind *kind
	id   string
}

// A piece is an event that is written of a message or a call.
type piece struct {
	of              string
	MessageID       string  `json:"messageId,omitempty"`
	Role            Role    `json:"role,omitempty"`
	ToolCallID      string  `json:"toolCallId,omitempty"`
	ToolCallName    string  `json:"toolCallName,omitempty"`
	ParentMessageID string  `json:"parentMessageId,omitempty"`
	Delta           *string `json:"delta,omitempty"`
}

func (p piece) eventType() string { return p.of }

// piece returns an event of the item.
func (it item) piece(suffix string) piece {
	if it.kind == toolCalls {
		return piece{of: it.kind.event + suffix, ToolCallID: it.id}
	}
	return piece{of: it.kind.event + suffix, MessageID: it.id}
}

// end returns the event that ends the item.
func (it item) end() Event {
	if it.kind == step {
		return StepFinished{StepName: it.id}
	}
	return it.piece("_END")
}

// NewWriter returns a Writer that passes each event to emit as JSON on one line. It keeps no
// reference to data. The first error of emit ends the stream: Write and Close return it from then
// on.
func NewWriter(emit func(data []byte) error) *Writer { return &Writer{emit: emit} }

// Before10 makes w write for a client that declares no version: see [RunInput].ProtocolVersion.
// Such clients know no pending calls and no runs that were cancelled. A RunFinished of these kinds
// has no outcome then, so that they look themselves for calls without a result. Call it before the
// first Write.
func (w *Writer) Before10() { w.before10 = true }

// Write writes e, and before it what ends what is open. An error other than one of emit means that
// nothing was written.
func (w *Writer) Write(e Event) error {
	if w.err != nil {
		return w.err
	}
	if err := w.admit(e); err != nil {
		return err
	}
	switch e := e.(type) {
	case RunStarted:
		if e.ProtocolVersion == "" {
			e.ProtocolVersion = version
		}
		return w.write(func() {
			w.phase, w.thread, w.run, w.open, w.calls, w.done = active, e.ThreadID, e.RunID, nil, nil, nil
		}, e)
	case RunError:
		return w.write(func() { w.phase = failed }, e)
	case RunFinished:
		return w.finish(e)
	case TextMessageChunk:
		return w.chunk(e, item{textMessage, e.MessageID}, piece{Role: e.Role}, e.Delta)
	case ReasoningMessageChunk:
		return w.chunk(e, item{reasoning, e.MessageID}, piece{Role: RoleReasoning}, e.Delta)
	case ToolCallChunk:
		return w.chunk(e, item{toolCalls, e.ToolCallID}, piece{ToolCallName: e.ToolCallName,
			ParentMessageID: e.ParentMessageID}, e.Delta)
	case StepStarted:
		it := item{step, e.StepName}
		if e.StepName == "" || slices.Contains(w.open, it) {
			return refuse(e, e.StepName, "it has no name, or this step is open; end it first")
		}
		return w.write(func() { w.open = append(w.open, it) }, e)
	case StepFinished:
		return w.end(e, item{step, e.StepName})
	case ToolCallEnd:
		return w.end(e, item{toolCalls, e.ToolCallID})
	case ToolCallResult:
		return w.result(e)
	case MessagesSnapshot:
		return w.snapshot(e)
	case StateSnapshot, Custom:
		return w.write(nil, e)
	}
	return refuse(e, "", "it isn't an event of this package, by value")
}

// Close ends the stream: a run that nothing has ended was stopped, and is ended as
// OutcomeCancelled. It returns the error of emit, if there was one. Further calls do nothing else,
// and a Write after it is refused.
func (w *Writer) Close() error {
	if w.err == nil && w.phase == active {
		w.Write(RunFinished{Outcome: Outcome{Type: OutcomeCancelled}}) // can only fail with w.err
	}
	w.closed = true
	return w.err
}

// admit returns why e can't come in this phase of the stream.
func (w *Writer) admit(e Event) error {
	if e == nil {
		return &GrammarError{Type: "event", Problem: "it is nil"}
	}
	if w.closed {
		return refuse(e, "", "the Writer is closed; use another one for another stream")
	}
	switch e := e.(type) {
	case RunStarted:
		switch {
		case w.phase == active:
			return refuse(e, e.RunID, "the run %.64q goes on; write a RUN_FINISHED first", w.run)
		case e.ThreadID == "" || e.RunID == "":
			return refuse(e, e.RunID, "it has no ThreadID or no RunID; give it both")
		case w.thread != "" && w.thread != e.ThreadID:
			return refuse(e, e.RunID, "the stream is of another thread; use a Writer for each thread")
		}
		return nil
	case RunError:
		if w.phase != failed {
			return nil
		}
	}
	if w.phase != active {
		return refuse(e, "", "no run is in progress; write a RUN_STARTED first")
	}
	return nil
}

// finish ends the run.
func (w *Writer) finish(e RunFinished) error {
	o := &e.Outcome
	switch {
	case o.Type != "" && o.Type != OutcomeSuccess && o.Type != OutcomeInterrupt && o.Type != OutcomeCancelled,
		(o.Type == OutcomeInterrupt) != (len(o.Interrupts) > 0):
		return refuse(e, w.run, "its outcome is %q with %d interrupts; only, and always, %q has some", o.Type,
			len(o.Interrupts), OutcomeInterrupt)
	}
	ids := make(map[string]bool)
	for _, in := range o.Interrupts {
		if in.ID == "" || in.Reason == "" || ids[in.ID] {
			return refuse(e, in.ID,
				"an interrupt has no id, no reason, or the id of another; give each an id of its own and a reason")
		}
		ids[in.ID] = true
	}
	pending := slices.Clone(o.PendingToolCallIDs)
	o.PendingToolCallIDs = nil
	if o.Type == "" || o.Type == OutcomeSuccess {
		for _, id := range w.calls {
			if !slices.Contains(pending, id) {
				pending = append(pending, id)
			}
		}
		pending = slices.DeleteFunc(pending, func(id string) bool { return slices.Contains(w.done, id) })
		if o.PendingToolCallIDs = pending; len(pending) > 0 {
			o.Type = OutcomeSuccess
		}
	}
	if w.before10 && o.Type != OutcomeInterrupt {
		e.Outcome = Outcome{}
	}
	return w.ending(func(item) bool { return true }, func() { w.phase = finished }, runFinished{w.thread, w.run, e})
}

// A runFinished is a RunFinished with the ids of its run.
type runFinished struct {
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	RunFinished
}

// chunk writes a chunk of a message or a call. start has what its first event says of it.
func (w *Writer) chunk(e Event, it item, start piece, delta string) error {
	begin, content := it.piece("_START"), it.piece(it.kind.content)
	content.Delta = &delta
	if slices.Contains(w.open, it) {
		return w.ending(func(o item) bool { return o.kind == reasoning && it.kind != reasoning }, nil, content)
	}
	switch {
	case it.id == "":
		return refuse(e, "", "it has no id; give it that of the %s", it.kind.name)
	case it.kind == toolCalls && start.ToolCallName == "":
		return refuse(e, it.id, "it has no ToolCallName, and the call isn't open; give it one")
	}
	begin.Role, begin.ToolCallName, begin.ParentMessageID = start.Role, start.ToolCallName, start.ParentMessageID
	return w.ending(func(o item) bool { return o.kind == it.kind || o.kind == reasoning }, func() {
		w.open = append(w.open, it)
		if it.kind == toolCalls && !slices.Contains(w.done, it.id) && !slices.Contains(w.calls, it.id) {
			w.calls = append(w.calls, it.id)
		}
	}, begin, content)
}

// end writes an event that ends an item.
func (w *Writer) end(e Event, it item) error {
	if !slices.Contains(w.open, it) {
		return refuse(e, it.id, "no such %s is open", it.kind.name)
	}
	return w.ending(func(o item) bool { return o == it || it.kind == step && o.kind == reasoning }, nil)
}

// result writes the result of a call.
func (w *Writer) result(e ToolCallResult) error {
	switch {
	case e.MessageID == "" || e.ToolCallID == "":
		return refuse(e, e.ToolCallID, "it has no MessageID or no ToolCallID; give it both")
	case slices.Contains(w.open, item{textMessage, e.MessageID}):
		return refuse(e, e.ToolCallID, "its MessageID is that of a text message; give it another")
	}
	return w.ending(func(o item) bool { return o == item{toolCalls, e.ToolCallID} }, func() {
		w.done = append(w.done, e.ToolCallID)
		w.calls = slices.DeleteFunc(w.calls, func(id string) bool { return id == e.ToolCallID })
	}, e)
}

// snapshot writes the messages that the client should have.
func (w *Writer) snapshot(e MessagesSnapshot) error {
	if e.Messages == nil {
		e.Messages = []Message{}
	}
	kept := make(map[item]bool)
	for _, m := range e.Messages {
		kind := textMessage
		if m.Role == RoleReasoning {
			kind = reasoning
		}
		kept[item{kind, m.ID}] = true
		for _, c := range m.ToolCalls {
			kept[item{toolCalls, c.ID}] = true
		}
	}
	return w.ending(func(o item) bool { return o.kind != step && !kept[o] }, nil, e)
}

// ending ends the open items that match, the last one first, and writes further events. noted is
// called when it is certain that they are written; it may be nil.
func (w *Writer) ending(matches func(item) bool, noted func(), events ...Event) error {
	var all []Event
	for _, it := range slices.Backward(w.open) {
		if matches(it) {
			all = append(all, it.end())
		}
	}
	return w.write(func() {
		w.open = slices.DeleteFunc(w.open, matches)
		if noted != nil {
			noted()
		}
	}, append(all, events...)...)
}

// write writes events, all of them or, if one has no JSON, none. noted is as in ending.
func (w *Writer) write(noted func(), events ...Event) error {
	lines := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if lines[i], err = marshal(e); err != nil {
			return err
		}
	}
	if noted != nil {
		noted()
	}
	for _, line := range lines {
		if w.err = w.emit(line); w.err != nil {
			break
		}
	}
	return w.err
}
