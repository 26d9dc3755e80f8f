package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// orElse returns raw, or other if there is none.
func orElse(raw json.RawMessage, other string) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(other)
	}
	return raw
}

// complete returns e with what must be there and is nil, and without what may be left out and is
// null.
func complete(e Event) Event {
	switch e := e.(type) {
	case RunStarted:
		if e.Input != nil {
			e.Input = e.Input.complete()
		}
		return e
	case RunFinished:
		e.Result = notNull(e.Result)
		return e
	case SubagentFinished:
		e.Result = notNull(e.Result)
		return e
	case ReasoningMessageStart:
		if e.Role == "" {
			e.Role = RoleReasoning
		}
		return e
	case MessagesSnapshot:
		if e.Messages == nil {
			e.Messages = []Message{}
		}
		return e
	case StateSnapshot:
		e.Snapshot = orElse(e.Snapshot, "null")
		return e
	case StateDelta:
		e.Delta = orElse(e.Delta, "[]")
		return e
	case ActivitySnapshot:
		e.Content = orElse(e.Content, "{}")
		return e
	case ActivityDelta:
		e.Patch = orElse(e.Patch, "[]")
		return e
	case Raw:
		e.Event = orElse(e.Event, "null")
		return e
	case Custom:
		e.Value = orElse(e.Value, "null")
		return e
	}
	return e
}

func notNull(raw json.RawMessage) json.RawMessage {
	if kindOf(raw) == "null" {
		return nil
	}
	return raw
}

// complete returns in with messages, and without what may be left out and is null.
func (in *RunInput) complete() *RunInput {
	out := *in
	if out.Messages == nil {
		out.Messages = []Message{}
	}
	out.State, out.ForwardedProps = notNull(out.State), notNull(out.ForwardedProps)
	out.Tools, out.Resume = slices.Clone(out.Tools), slices.Clone(out.Resume)
	for i := range out.Tools {
		out.Tools[i].Parameters = notNull(out.Tools[i].Parameters)
	}
	for i := range out.Resume {
		out.Resume[i].Payload = notNull(out.Resume[i].Payload)
	}
	return &out
}

// check returns what is wrong with the values of e that its Go types don't say.
func check(e Event) error {
	if err := checkBase(e); err != nil {
		return err
	}
	switch e := e.(type) {
	case RunStarted:
		if e.Input != nil {
			return checkMessages(e.Input.Messages, "input.messages")
		}
	case RunFinished:
		if err := checkUsage(e.Usage); err != nil {
			return err
		}
		return checkOutcome(e.Outcome)
	case RunError:
		return checkUsage(e.Usage)
	case TextMessageStart:
		return checkTextRole(e.Role)
	case TextMessageChunk:
		return checkTextRole(e.Role)
	case ToolCallResult:
		return checkParts(e.Content.Parts, "content")
	case MessagesSnapshot:
		return checkMessages(e.Messages, "messages")
	case StateDelta:
		return checkPatch(e.Delta, "delta")
	case ActivitySnapshot:
		return checkObject(e.Content, "content")
	case ActivityDelta:
		return checkPatch(e.Patch, "patch")
	case ReasoningMessageStart:
		if e.Role != RoleReasoning {
			return &fieldError{"role", fmt.Sprintf("is %q: it must be %q", e.Role, RoleReasoning)}
		}
	case ReasoningEncryptedValue:
		if !e.Subtype.known() {
			return &fieldError{"subtype",
				fmt.Sprintf("is %q: it must be %q or %q", e.Subtype, encryptedToolCall, encryptedMessage)}
		}
	case SubagentFinished:
		return checkSubagentOutcome(e.Outcome)
	}
	return nil
}

func checkBase(e Event) error {
	b := e.(interface{ base() Base }).base()
	if b.Timestamp > maxInteger || b.Timestamp < -maxInteger {
		return &fieldError{"timestamp", "is out of range: it is in milliseconds since 1970"}
	}
	if kindOf(b.RawEvent) == "null" {
		return &fieldError{"rawEvent", "is null: leave it out"}
	}
	return nil
}

func checkUsage(all []TokenUsage) error {
	for i, u := range all {
		for _, n := range []*int64{u.InputTokens, u.OutputTokens, u.TotalTokens, u.ReasoningTokens, u.CachedInputTokens,
			u.CacheWriteInputTokens} {
			if n != nil && (*n < 0 || *n > maxInteger) {
				return &fieldError{"usage[" + strconv.Itoa(i) + "]", "has a count out of range"}
			}
		}
	}
	return nil
}

func checkTextRole(r Role) error {
	switch r {
	case "", RoleDeveloper, RoleSystem, RoleAssistant, RoleUser:
		return nil
	}
	return &fieldError{"role", fmt.Sprintf("is %q: a text message is of %s, %s, %s or %s", r, RoleDeveloper, RoleSystem,
		RoleAssistant, RoleUser)}
}

func checkOutcome(o Outcome) error {
	switch {
	case o.Type == "" && len(o.PendingToolCallIDs) == 0 && len(o.Interrupts) == 0:
		return nil
	case !o.Type.known():
		return &fieldError{"outcome.type",
			fmt.Sprintf("is %q: it must be %q, %q or %q", o.Type, OutcomeSuccess, OutcomeInterrupt, OutcomeCancelled)}
	case o.Type == OutcomeInterrupt && len(o.Interrupts) == 0:
		return &fieldError{"outcome.interrupts", "is empty: an interrupted run waits for something"}
	case o.Type != OutcomeInterrupt && len(o.Interrupts) > 0:
		return &fieldError{"outcome.interrupts", "belongs to the outcome " + string(OutcomeInterrupt)}
	case o.Type != OutcomeSuccess && len(o.PendingToolCallIDs) > 0:
		return &fieldError{"outcome.pendingToolCallIds", "belongs to the outcome " + string(OutcomeSuccess)}
	}
	for i, in := range o.Interrupts {
		if len(in.ResponseSchema) == 0 {
			continue
		}
		if err := checkObject(in.ResponseSchema, "outcome.interrupts["+strconv.Itoa(i)+"].responseSchema"); err != nil {
			return err
		}
	}
	return nil
}

func checkSubagentOutcome(o SubagentOutcome) error {
	switch {
	case o.Type == "" && len(o.InterruptIDs) == 0:
		return nil
	case !o.Type.known():
		return &fieldError{"outcome.type",
			fmt.Sprintf("is %q: it must be %q or %q", o.Type, subagentSuccess, SubagentSuspended)}
	case o.Type == subagentSuccess && len(o.InterruptIDs) > 0:
		return &fieldError{"outcome.interruptIds", "belongs to the outcome " + string(SubagentSuspended)}
	}
	return nil
}

func checkMessages(all []Message, path string) error {
	for i, m := range all {
		at := path + "[" + strconv.Itoa(i) + "]"
		if !m.Role.known() {
			return &fieldError{join(at, "role"), fmt.Sprintf("is %q, which is no role", m.Role)}
		}
		if err := checkParts(m.Content.Parts, join(at, "content")); err != nil {
			return err
		}
		if m.Role != RoleActivity {
			continue
		}
		if err := checkObject(orElse(m.Activity, "{}"), join(at, "content")); err != nil {
			return err
		}
	}
	return nil
}

func checkParts(parts []Part, path string) error {
	for i, p := range parts {
		at := path + "[" + strconv.Itoa(i) + "]"
		if !p.Type.known() {
			return &fieldError{join(at, "type"), fmt.Sprintf("is %q, which is no kind of part", p.Type)}
		}
		if err := p.check(at); err != nil {
			return err
		}
		if p.Source != nil && !p.Source.Type.known() {
			return &fieldError{join(at, "source.type"), fmt.Sprintf("is %q, which is no kind of source", p.Source.Type)}
		}
	}
	return nil
}

func checkObject(raw json.RawMessage, path string) error {
	if kind := kindOf(raw); kind != "an object" {
		return &fieldError{path, "is " + kind + ": it must be an object"}
	}
	return nil
}

// checkPatch checks the form of a JSON Patch: whether it can be applied depends on what it is
// applied to.
func checkPatch(raw json.RawMessage, path string) error {
	if kind := kindOf(raw); kind != "an array" {
		return &fieldError{path, "is " + kind + ": it must be an array of operations"}
	}
	var operations []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &operations); err != nil {
		return &fieldError{path, "isn't an array of operations"}
	}
	for i, o := range operations {
		at := path + "[" + strconv.Itoa(i) + "]"
		var op string
		if json.Unmarshal(o["op"], &op) != nil || !strings.Contains(" add remove replace move copy test ", " "+op+" ") {
			return &fieldError{join(at, "op"), "must be add, remove, replace, move, copy or test"}
		}
		if !isPointer(o["path"]) {
			return &fieldError{join(at, "path"), "must be empty or begin with a slash"}
		}
		switch op {
		case "move", "copy":
			if !isPointer(o["from"]) {
				return &fieldError{join(at, "from"), "must be empty or begin with a slash"}
			}
		case "add", "replace", "test":
			if o["value"] == nil {
				return &fieldError{join(at, "value"), "is missing"}
			}
		}
	}
	return nil
}

// isPointer reports whether raw is a JSON Pointer (RFC 6901): a string with each ~ as part of ~0 or
// ~1.
func isPointer(raw json.RawMessage) bool {
	var text string
	if kindOf(raw) != "a string" || json.Unmarshal(raw, &text) != nil || text != "" && text[0] != '/' {
		return false
	}
	rest := strings.NewReplacer("~0", "", "~1", "").Replace(text)
	return !strings.Contains(rest, "~")
}
