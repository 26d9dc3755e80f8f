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
	"github.com/pawlkit/pawl/tools"
)

const (
	// maxKind is the maximum length of the kind of a host's event, in bytes.
	maxKind = 100
	// maxValue is the maximum length of the value of a host's event, as JSON and in bytes.
	maxValue = 64 << 10
)

// NoticeKind is the kind of facts of the host whose value is a text for people, as a JSON string:
// see [Emit]. The terminal (agent/terminal), the page (agent/serve/page) and editors (agent/acp)
// show it beside the conversation; other front ends get it like any fact of the host.
const NoticeKind = "notice"

// Shown is what a tool or a hook has shown to whoever reads the stream: see [Show].
type Shown struct {
	NoteMeta
	Kind  string          `json:"kind"` // the host's
	Value json.RawMessage `json:"value"`
}

// Emit records a fact of the host in the run that ctx belongs to: an [machine.Emitted] with the
// value as JSON. The model doesn't see it. It is for tools and hooks, and safe for concurrent use.
// Config.Redact is applied to the strings in the value.
//
// The kind has 1 to 100 bytes, without control characters. The value has at most 64 KiB as JSON
// after redaction; a json.RawMessage is used as it is. If either is wrong, the error is an
// *[ArgError]. Nothing is recorded if the run, or the call that ctx is of, is over.
func Emit(ctx context.Context, kind string, value any) error {
	x, data, err := hostEventIn(ctx, "Emit", kind, value)
	if err != nil {
		return err
	}
	err = x.log.appendIn(ctx, func() Fact {
		return &machine.Emitted{Meta: Meta{Call: ownCall(ctx)}, Kind: kind, Value: data}
	})
	x.consumer.Wake()
	return err
}

// Show shows a note of the host to whoever reads the stream of the run that ctx belongs to: a
// [Shown] with the value as JSON. Otherwise it is like [Emit]. If 1,024 events wait for a slow
// reader, the note is left out.
func Show(ctx context.Context, kind string, value any) error {
	x, data, err := hostEventIn(ctx, "Show", kind, value)
	if err != nil {
		return err
	}
	x.log.Lock()
	defer x.log.Unlock()
	if ctx.Err() != nil || x.log.ended {
		return errOver
	}
	meta := x.log.noteMeta()
	meta.Call = ownCall(ctx)
	if len(x.log.queue) < maxQueue {
		x.log.note(&Shown{NoteMeta: meta, Kind: kind, Value: data})
	}
	x.consumer.Wake()
	return nil
}

// ownCall returns the id of the tool call that ctx belongs to.
func ownCall(ctx context.Context) string {
	if c, ok := tools.CallOf(ctx); ok {
		return c.ID
	}
	return ""
}

// Emit is like the function [Emit], for a session whose run waits or has ended: what a host records
// while nothing is in progress there. While a run is in progress, in this or another process, the
// error is [ErrBusy]: its tools and hooks can record it. An unknown session is [ErrNothingOpen].
//
// A host that may record the same again gives it a key, like [Input].Key; at most one, and an empty
// one is none. If the session had an input, a message or a fact with the same key, the error is
// [ErrDuplicate]. Emit changes nothing of what the run waits for: a decision that comes meanwhile
// waits until the fact is stored.
func (s *Session) Emit(ctx context.Context, kind string, value any, key ...string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if len(key) > 1 {
		return &ArgError{Func: "Emit", Field: "key",
			Problem: fmt.Sprintf("there are %d keys; a fact has one", len(key))}
	}
	once := strings.Join(key, "")
	if err := checkLine("Key", once, maxKey); err != nil {
		return err
	}
	data, err := s.agent.hostEvent("Emit", kind, value)
	if err != nil {
		return err
	}
	return s.agent.changeNow(ctx, s.id, func(l *sessionLog) error {
		if err := duplicate(l.State(), once); err != nil {
			return err
		}
		if l.Run().Status == Running { // its process has died, and another one resumes it
			return &SessionError{Session: s.id, Code: ErrBusy}
		}
		return l.append(&machine.Emitted{Kind: kind, Key: once, Value: data})
	})
}

// hostEventIn checks a host's event for fn, and returns the driver of the run that ctx belongs to,
// and the value of the event, encoded and redacted.
func hostEventIn(ctx context.Context, fn, kind string, value any) (x *driver, data json.RawMessage, err error) {
	if x = driverIn(ctx); x == nil {
		return nil, nil, outsideOfRun(fn)
	}
	data, err = x.agent.hostEvent(fn, kind, value)
	return x, data, err
}

// hostEvent checks a host's event for fn, and returns its value, encoded and redacted.
func (a *Agent) hostEvent(fn, kind string, value any) (data json.RawMessage, err error) {
	bad := func(problem string, err error) (json.RawMessage, error) {
		return nil, badEvent(fn, kind, problem, err)
	}
	if kind == "" || len(kind) > maxKind || !utf8.ValidString(kind) || strings.ContainsFunc(kind, unicode.IsControl) {
		return bad(fmt.Sprintf("the kind has to be valid UTF-8 of 1 to %d bytes without control characters", maxKind),
			nil)
	}
	err = contained(func() (err error) {
		data, err = machine.Marshal(value)
		return err
	})
	switch {
	case errors.As(err, new(*tools.PanicError)):
		return bad("encoding its value has panicked", err)
	case err != nil:
		return bad("its value can't be encoded as JSON: "+err.Error(), err)
	case machine.TooDeep(data):
		return bad("its value is nested too deep; give a flatter one", nil)
	}
	if data = a.redact.JSON(bytes.ToValidUTF8(data, []byte("\uFFFD"))); len(data) > maxValue {
		return bad(
			fmt.Sprintf(
				"its value has %d bytes as JSON, and at most %d are allowed; store it elsewhere and give its name",
				len(data), maxValue), nil)
	}
	return data, nil
}

// badEvent returns the error for an event that a function can't take.
func badEvent(fn, kind, problem string, err error) error {
	return &ArgError{Func: fn, Field: fmt.Sprintf("event %q", kind), Problem: problem, Err: err}
}
