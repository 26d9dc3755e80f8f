package uimessage

import (
	"fmt"
	"slices"
)

// A GrammarError is a chunk that can't come now. Nothing of it was written, and the [Writer] can be
// used further.
type GrammarError struct {
	Type    string // of the chunk
	ID      string // of the part, call or approval; empty if it has none
	Problem string
}

// Error names the chunk and says what would be right.
func (e *GrammarError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("uimessage: %s: %s", e.Type, e.Problem)
	}
	return fmt.Sprintf("uimessage: %s of %q: %s", e.Type, e.ID, e.Problem)
}

// finishReasons are the reasons that clients know; others end their stream with an error.
var finishReasons = []string{"", "stop", "length", "content-filter", "tool-calls", "error", "other"}

// A Writer writes the chunks of one message in an order that clients accept. It isn't safe for
// concurrent use.
type Writer struct {
	emit  func(data []byte) error
	level Level
	err   error // of emit

	begun, over bool
	step        bool
	open        []openPart // parts of text and of reasoning, in the order of their beginnings
	calls       Message    // the steps and the calls that the client has
}

// An openPart is a part of text or of reasoning that hasn't ended.
type openPart struct {
	id        string
	reasoning bool
}

// NewWriter returns a Writer that calls emit with the JSON of each chunk.
func NewWriter(emit func(data []byte) error, level Level) *Writer {
	return &Writer{emit: emit, level: level}
}

// Continue tells the Writer which message the client has already. The stream may then refer to its
// calls and approvals. It must be called before Write.
func (w *Writer) Continue(m *Message) { w.calls.Parts = slices.Clone(m.Parts) }

// Write writes a chunk. It starts and ends steps and parts where that is missing: content outside
// of a step starts one, a delta of an unknown part starts the part, and the end of a step ends the
// parts in it, and the calls whose inputs aren't complete, with a ToolInputError. A FinishReason
// that clients don't know becomes "other". What can't come is a *[GrammarError]. An error of emit
// is returned by this and all later calls.
func (w *Writer) Write(c Chunk) error {
	if w.err != nil {
		return w.err
	}
	if c == nil {
		return &GrammarError{Problem: "the chunk is nil"}
	}
	if w.over {
		return &GrammarError{Type: c.kind(), Problem: "the message is finished"}
	}
	switch c := c.(type) {
	case Start:
		if w.begun {
			return &GrammarError{Type: c.kind(), ID: c.MessageID,
				Problem: "the message has begun; a Start comes first, and once"}
		}
		return w.send(c)
	case Finish, Error:
		return w.finish(c)
	case Data:
		return w.send(c)
	case StartStep:
		return w.startStep()
	case ResetStep:
		return w.reset()
	case TextDelta:
		return w.delta(c, openPart{c.ID, false}, textStart{c.ID})
	case ReasoningDelta:
		return w.delta(c, openPart{c.ID, true}, reasoningStart{c.ID})
	case TextEnd:
		return w.end(c, openPart{c.ID, false})
	case ReasoningEnd:
		return w.end(c, openPart{c.ID, true})
	case SourceURL, SourceDocument, File:
		if err := w.inStep(); err != nil {
			return err
		}
		return w.send(c)
	}
	return w.tool(c)
}

// Close ends the message: it ends what is open, and writes a Finish if neither that nor an Error
// was written. Closing again does nothing.
func (w *Writer) Close() error {
	if w.err != nil || w.over {
		return w.err
	}
	return w.finish(Finish{})
}

// send encodes and emits a chunk.
func (w *Writer) send(c Chunk) error {
	data, err := Marshal(c)
	if err != nil {
		return err
	}
	w.begun = true
	switch c.(type) {
	case StartStep, ResetStep, ToolInputStart, ToolInputAvailable, ToolInputError, ToolApprovalRequest,
		ToolApprovalResponse, ToolOutputAvailable, ToolOutputError, ToolOutputDenied:
		_ = w.calls.Apply(data) // what a client would refuse was refused before
	}
	w.err = w.emit(data)
	return w.err
}

// finish ends the message, or cuts it off.
func (w *Writer) finish(c Chunk) error {
	err := w.endParts()
	if _, failed := c.(Error); err == nil && !failed {
		if w.step {
			err = w.finishStep()
		} else {
			err = w.endInputs()
		}
	}
	if err != nil {
		return err
	}
	if f, ok := c.(Finish); ok && !slices.Contains(finishReasons, f.FinishReason) {
		c = Finish{FinishReason: "other"}
	}
	w.over = true
	return w.send(c)
}

func (w *Writer) startStep() error {
	var err error
	if w.step {
		err = w.finishStep()
	} else {
		err = w.endInputs()
	}
	if err != nil {
		return err
	}
	w.step = true
	return w.send(StartStep{})
}

func (w *Writer) finishStep() error {
	if err := w.endParts(); err != nil {
		return err
	}
	if err := w.endInputs(); err != nil {
		return err
	}
	w.step = false
	return w.send(finishStep{})
}

// reset withdraws the current step. Clients below V7Late can't; they keep what they have seen, and
// a new step begins.
func (w *Writer) reset() error {
	if !w.step {
		return &GrammarError{Type: ResetStep{}.kind(), Problem: "no step has begun"}
	}
	if w.level == V7Late {
		w.open = nil
		return w.send(ResetStep{})
	}
	for _, p := range slices.Clone(w.calls.thisStep()) {
		if p.waits() {
			if err := w.send(ToolOutputError{ToolCallID: p.ToolCallID, ErrorText: "The call was withdrawn.",
				Dynamic: p.Type == dynamicTool}); err != nil {
				return err
			}
		}
	}
	return w.startStep()
}

// endInputs ends the calls whose inputs are still being written. In another step, a client would
// take what follows for another call.
func (w *Writer) endInputs() error {
	for i, p := range slices.Clone(w.calls.Parts) {
		if name, ok := p.tool(); ok && p.State == stateInputStreaming {
			w.calls.Parts[i].State = stateOutputError // also in an earlier step, where a client doesn't find it
			if err := w.send(ToolInputError{ToolCallID: p.ToolCallID, ToolName: name,
				ErrorText: "The input of the call was cut off.", Dynamic: p.Type == dynamicTool}); err != nil {
				return err
			}
		}
	}
	return nil
}

// inStep starts a step if there is none.
func (w *Writer) inStep() error {
	if w.step {
		return nil
	}
	return w.startStep()
}

// endParts ends the parts that are open.
func (w *Writer) endParts() error {
	for len(w.open) > 0 {
		var end Chunk = TextEnd{ID: w.open[0].id}
		if w.open[0].reasoning {
			end = ReasoningEnd{ID: w.open[0].id}
		}
		w.open = w.open[1:]
		if err := w.send(end); err != nil {
			return err
		}
	}
	return nil
}

// delta writes a piece of a part, which it begins if it isn't open.
func (w *Writer) delta(c Chunk, part openPart, start Chunk) error {
	if !slices.Contains(w.open, part) {
		if err := w.inStep(); err != nil {
			return err
		}
		w.open = append(w.open, part)
		if err := w.send(start); err != nil {
			return err
		}
	}
	return w.send(c)
}

// end ends a part.
func (w *Writer) end(c Chunk, part openPart) error {
	i := slices.Index(w.open, part)
	if i < 0 {
		return &GrammarError{Type: c.kind(), ID: part.id, Problem: "no such part is open"}
	}
	w.open = slices.Delete(w.open, i, i+1)
	return w.send(c)
}
