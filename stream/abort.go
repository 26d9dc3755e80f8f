package stream

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// An AbortError reports an answer that a check of [Guard] has ended. It has the class of its cause, so it is retried
// only if that class allows it.
type AbortError struct {
	Cause error  // what the check returned, or a *[PanicError]
	Text  string // what the model had written, including the chunk that the consumer didn't get
}

// Error says why the answer was ended.
func (e *AbortError) Error() string {
	return fmt.Sprintf("stream: the answer was ended early: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Cause }

// Guard lets check end an answer while it is being written. Check gets the answer so far, before the consumer does:
// whenever at least every bytes of text, reasoning and arguments have arrived since the last check (0: at each chunk), and
// always when a call begins or ends, and at End. If it returns an error or panics, the consumer gets an *[AbortError]
// instead of the chunk, and the producer is stopped. Earlier chunks remain valid.
//
// Check is called in the goroutine that ranges over the sequence, and must neither keep nor change its argument.
func Guard(seq Seq, every int, check func(*Written) error) Seq {
	if seq == nil || check == nil {
		return seq
	}
	return func(yield func(provider.Chunk, error) bool) {
		g := &guarded{check: check, every: every, next: every}
		seq(func(chunk provider.Chunk, err error) bool {
			if g.over {
				return false
			}
			g.over = true // stays, should yield panic
			if err == nil {
				err = g.judge(&chunk)
			}
			if err != nil {
				yield(provider.Chunk{}, err)
				return false
			}
			g.over = !yield(chunk, nil)
			return !g.over
		})
	}
}

type guarded struct {
	check   func(*Written) error
	every   int
	next    int // the length at which to check again
	written Written
	over    bool // the consumer stopped or got an error, or its loop body panicked
}

func (g *guarded) judge(c *provider.Chunk) error {
	w := &g.written
	before := w.n
	if !w.add(c) {
		g.next = g.every
		return nil
	}
	switch c.Kind {
	case provider.KindToolStart, provider.KindToolEnd, provider.KindEnd:
	default:
		if w.n < g.next || w.n == before {
			return nil
		}
	}
	g.next = w.n + g.every
	if err := g.ask(); err != nil {
		return &AbortError{Cause: err, Text: w.Text()}
	}
	return nil
}

func (g *guarded) ask() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = NewPanicError("a check", v)
		}
	}()
	return g.check(&g.written)
}

// Written is the answer that the model has written so far. Its strings may be kept; they aren't copies.
type Written struct {
	text, reasoning, refusal strings.Builder

	calls []*WrittenCall
	n     int
	ended bool
}

// A WrittenCall is a tool call as far as it was written.
type WrittenCall struct {
	ID, Name string
	Done     bool // it is complete
	index    int32
	input    strings.Builder
}

// Input returns the arguments so far. When the call is done they are JSON, unless the model made a mistake.
func (c *WrittenCall) Input() string { return c.input.String() }

// Text returns the text so far.
func (w *Written) Text() string { return w.text.String() }

// Reasoning returns the reasoning so far.
func (w *Written) Reasoning() string { return w.reasoning.String() }

// Refusal returns the refusal so far.
func (w *Written) Refusal() string { return w.refusal.String() }

// Calls returns the calls so far, in first-seen order.
func (w *Written) Calls() []*WrittenCall { return w.calls }

// Len returns how many bytes were written: text, reasoning, refusal and arguments.
func (w *Written) Len() int { return w.n }

// Ended reports whether the answer is complete.
func (w *Written) Ended() bool { return w.ended }

// add adds a chunk, and reports whether it belongs to an answer; Waiting, Start and Reset don't.
func (w *Written) add(c *provider.Chunk) bool {
	switch c.Kind {
	case provider.KindWaiting:
		return false
	case provider.KindStart, provider.KindReset:
		*w = Written{}
		return false
	case provider.KindText:
		w.write(&w.text, c.Text)
	case provider.KindReasoning:
		w.write(&w.reasoning, c.Text)
	case provider.KindRefusal:
		w.write(&w.refusal, c.Text)
	case provider.KindToolStart:
		w.calls = append(w.calls, &WrittenCall{ID: c.ID, Name: c.Name, index: c.Index})
	case provider.KindToolDelta:
		if call := w.open(c.Index); call != nil {
			w.write(&call.input, c.Text)
		}
	case provider.KindToolEnd:
		if call := w.open(c.Index); call != nil {
			call.Done = true
		}
	case provider.KindEnd:
		w.ended = true
	}
	return true
}

func (w *Written) write(b *strings.Builder, s string) {
	b.WriteString(s)
	w.n += len(s)
}

func (w *Written) open(index int32) *WrittenCall {
	for i := len(w.calls) - 1; i >= 0; i-- {
		if c := w.calls[i]; c.index == index && !c.Done {
			return c
		}
	}
	return nil
}
