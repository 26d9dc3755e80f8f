package agui

import (
	"fmt"
	"slices"
)

// A Writer writes the events of a stream, which has one run or several in sequence, in an order
// that the protocol allows.
//
// It ends what is open. RunFinished ends everything, from the last opened to the first.
// SubagentFinished and SubagentError end what is from that subagent, ToolCallResult its call, and
// MessagesSnapshot the messages and calls that it doesn't have, because the client drops those.
//
// It writes chunks as start and content. A chunk's message or call stays open until it is ended, a
// chunk of the same subagent begins another one, or the run ends.
//
// It fills in what is known: Version, the ids of a RunFinished and its PendingToolCallIDs, and whom
// a call is from whose message is from a subagent. It refuses everything else that can't come, with
// a *[GrammarError], and values that the protocol doesn't have, with an *[EventError].
//
// A Writer is not safe for concurrent use.
type Writer struct {
	emit func(data []byte) error

	before10 bool

	phase  phase
	run    *run // the last one; nil before the first
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
	e, err := plain(e)
	if err != nil {
		return err
	}
	if err := w.admit(e); err != nil {
		return err
	}
	if c, ok := chunkOf(e); ok {
		return w.writeChunk(c)
	}
	switch e := e.(type) {
	case RunStarted:
		if e.ProtocolVersion == "" {
			e.ProtocolVersion = Version
		}
		return w.write(e)
	case RunError:
		return w.write(e)
	}
	e = w.run.fill(e)
	if err := w.run.admit(e); err != nil {
		return err
	}
	before := w.before(e)
	if f, ok := e.(RunFinished); ok && w.before10 && f.Outcome.Type != OutcomeInterrupt {
		f.Outcome = Outcome{}
		e = f
	}
	return w.write(append(before, e)...)
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
	refuse := func(id, problem, remedy string) error {
		return &GrammarError{Type: e.eventType(), ID: id, Problem: problem, Remedy: remedy}
	}
	if w.closed {
		return refuse("", "the Writer is closed", "use another one for another stream")
	}
	switch e := e.(type) {
	case RunStarted:
		switch {
		case w.phase == active:
			return refuse(e.RunID, fmt.Sprintf("the run %.64q goes on", w.run.id),
				fmt.Sprintf("write a %s first", typeRunFinished))
		case e.ThreadID == "" || e.RunID == "":
			return refuse(e.RunID, "it has no ThreadID or no RunID", "give it both")
		case w.run != nil && w.run.thread != e.ThreadID:
			return refuse(e.RunID, "the stream is of another thread", "use a Writer for each thread")
		}
		return nil
	case RunError:
		if w.phase != failed {
			return nil
		}
	}
	switch w.phase {
	case unstarted:
		return refuse("", "no run has begun", fmt.Sprintf("write a %s first", typeRunStarted))
	case active:
		return nil
	}
	return refuse("", "the run has ended", fmt.Sprintf("write a %s for another one", typeRunStarted))
}

// before returns the events that end what e ends besides its own.
func (w *Writer) before(e Event) []Event {
	switch e := e.(type) {
	case RunFinished:
		return w.run.ends(e.Outcome, func(*item) bool { return true })
	case SubagentFinished:
		return w.run.ends(Outcome{}, func(it *item) bool { return it.owner == e.SubagentRunID })
	case SubagentError:
		return w.run.ends(Outcome{}, func(it *item) bool { return it.owner == e.SubagentRunID })
	case ToolCallResult:
		return w.run.ends(Outcome{}, func(it *item) bool { return it.kind == toolCalls && it.id == e.ToolCallID })
	case MessagesSnapshot:
		kept := make(map[key]bool)
		for _, m := range e.Messages {
			kept[key{kind: kindOfMessage(m), id: m.ID}] = true
			for _, c := range m.ToolCalls {
				kept[key{kind: toolCalls, id: c.ID}] = true
			}
		}
		return w.run.ends(Outcome{}, func(it *item) bool { return it.kind.inMessages() && !kept[it.key] })
	}
	return nil
}

// write writes events that were admitted, all of them or, if one has no JSON, none.
func (w *Writer) write(events ...Event) error {
	lines := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if lines[i], err = marshal(e); err != nil {
			return err
		}
	}
	for i, e := range events {
		w.apply(e)
		if w.err = w.emit(lines[i]); w.err != nil {
			return w.err
		}
	}
	return nil
}

// apply notes that e was written.
func (w *Writer) apply(e Event) {
	switch e := e.(type) {
	case RunStarted:
		w.phase, w.run = active, newRun(e, w.run)
		return
	case RunFinished:
		w.phase = finished
		return
	case RunError:
		w.phase = failed
		return
	}
	if owner := ownerOf(e); owner != "" {
		w.run.owners[owner] = true
	}
	switch what, it := effectOf(e); what {
	case opens:
		w.run.begin(it)
	case ends:
		w.run.end(it.key)
	}
	switch e := e.(type) {
	case ToolCallResult:
		w.run.note(key{kind: textMessage, id: e.MessageID}, e.SubagentRunID).role = RoleTool
		w.run.note(key{kind: toolCalls, id: e.ToolCallID}, w.run.ownerOf(toolCalls, e.ToolCallID)).answered = true
		w.run.calls = slices.DeleteFunc(slices.Clone(w.run.calls), func(id string) bool { return id == e.ToolCallID })
	case ActivitySnapshot:
		k := key{kind: activity, id: e.MessageID}
		if w.run.items[k] == nil || e.Replace == nil || *e.Replace {
			w.run.note(k, e.SubagentRunID)
		}
	case MessagesSnapshot:
		w.run.replace(e.Messages)
	}
}
