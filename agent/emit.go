package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

const (
	// maxKind is the maximum length of the kind of a host's event, in bytes.
	maxKind = 100
	// maxValue is the maximum length of the value of a host's event, as JSON and in bytes.
	maxValue = 64 << 10
	// maxQueue is how many events may wait to be shown before a note of the host is left out, and
	// before a subagent waits.
	maxQueue = 1024
)

// Shown is what a tool or a hook has shown to whoever reads the stream: see [Show].
type Shown struct {
	NoteMeta
	Kind  string          `json:"kind"` // the host's
	Value json.RawMessage `json:"value"`
}

// An EventError says what is wrong with a host's event, or with an event that is to be encoded or
// decoded.
type EventError struct {
	Kind    string // of the event
	Problem string
	Err     error
}

// Error names the kind and says what would be right.
func (e *EventError) Error() string { return fmt.Sprintf("agent: event %q: %s", e.Kind, e.Problem) }

// Unwrap returns the cause.
func (e *EventError) Unwrap() error { return e.Err }

// Fault returns Invalid.
func (e *EventError) Fault() fault.Class { return fault.Invalid }

// Emit records a fact of the host in the run that ctx belongs to: an [machine.Emitted] with the
// value as JSON. The model doesn't see it. It is for tools and hooks, and safe for concurrent use.
// Config.Redact is applied to the strings in the value.
//
// The kind has 1 to 100 bytes, without control characters. The value has at most 64 KiB as JSON
// after redaction; a json.RawMessage is used as it is. If either is wrong, the error is an
// *[EventError]. Nothing is recorded if the run, or the call that ctx is of, is over.
func Emit(ctx context.Context, kind string, value any) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	data, err := x.hostValue(kind, value)
	if err != nil {
		return err
	}
	err = x.appendIn(ctx, func() Fact {
		return &machine.Emitted{Meta: Meta{Call: ownCall(ctx)}, Kind: kind, Value: data}
	})
	x.poke()
	return err
}

// Show shows a note of the host to whoever reads the stream of the run that ctx belongs to: a
// [Shown] with the value as JSON. Otherwise it is like [Emit]. If 1,024 events wait for a slow
// reader, the note is left out.
func Show(ctx context.Context, kind string, value any) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	data, err := x.hostValue(kind, value)
	if err != nil {
		return err
	}
	x.lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil || x.ended {
		return errOver
	}
	meta := x.noteMeta()
	meta.Call = ownCall(ctx)
	if len(x.queue) < maxQueue {
		x.note(&Shown{NoteMeta: meta, Kind: kind, Value: data})
	}
	x.poke()
	return nil
}

// ownCall returns the id of the tool call that ctx belongs to.
func ownCall(ctx context.Context) string {
	if c, ok := tools.CallOf(ctx); ok {
		return c.ID
	}
	return ""
}

// hostValue checks the kind of a host's event, and returns its value, encoded and redacted.
func (x *driver) hostValue(kind string, value any) (data json.RawMessage, err error) {
	bad := func(problem string, err error) (json.RawMessage, error) {
		return nil, &EventError{Kind: kind, Problem: problem, Err: err}
	}
	if kind == "" || len(kind) > maxKind || !utf8.ValidString(kind) || strings.ContainsFunc(kind, unicode.IsControl) {
		return bad(fmt.Sprintf("the kind has to be valid UTF-8 of 1 to %d bytes without control characters", maxKind),
			nil)
	}
	func() {
		defer contain(&err)
		data, err = machine.Marshal(value)
	}()
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		return bad("encoding its value has panicked", err)
	case err != nil:
		return bad("its value can't be encoded as JSON: "+err.Error(), err)
	case machine.TooDeep(data):
		return bad("its value is nested too deep; give a flatter one", nil)
	}
	if data = x.agent.redact.JSON(bytes.ToValidUTF8(data, []byte("\uFFFD"))); len(data) > maxValue {
		return bad(
			fmt.Sprintf(
				"its value has %d bytes as JSON, and at most %d are allowed; store it elsewhere and give its name",
				len(data), maxValue), nil)
	}
	return data, nil
}

// forward shows an event of a subagent. If too many events wait to be shown, it waits, unless ctx
// ends. The goroutine of the subagent's call calls it.
func (x *driver) forward(ctx context.Context, ev Event) {
	x.lock()
	defer x.mu.Unlock()
	if len(x.queue) >= maxQueue {
		stop := context.AfterFunc(ctx, func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.room.Broadcast()
		})
		defer stop()
		for len(x.queue) >= maxQueue && ctx.Err() == nil {
			x.room.Wait()
		}
	}
	x.note(ev)
	x.poke()
}
