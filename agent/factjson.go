package agent

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// This file writes the four facts that every step has as encoding/json does, to the byte, in a fraction of the time: an
// append shouldn't cost more than the step. What is rare in them, and every other fact, is left to encoding/json. The two
// are tested against each other.

// A writer writes JSON. What it can't write, it notes in err.
type writer struct {
	b     bytes.Buffer
	comma bool
	err   error
}

// fact returns the JSON of a fact, and false if it is none of the four.
func (w *writer) fact(f Fact) (json.RawMessage, bool, error) {
	begin := w.b.Len()
	w.comma, w.err = false, nil
	switch f := f.(type) {
	case StepStarted:
		if len(f.Messages) > 0 || f.Context != nil {
			return nil, false, nil
		}
		w.stepStarted(&f)
	case Replied:
		w.replied(&f)
	case ToolStarted:
		w.toolStarted(&f)
	case ToolFinished:
		if f.Spent != nil {
			return nil, false, nil
		}
		w.toolFinished(&f)
	default:
		return nil, false, nil
	}
	return w.b.Bytes()[begin:], true, w.err
}

func (w *writer) stepStarted(f *StepStarted) {
	w.meta(&f.Meta)
	w.text("model", f.Model)
	w.text("mode", f.Mode)
	if len(f.Tools) > 0 {
		w.key("tools")
		w.b.WriteByte('[')
		for i, t := range f.Tools {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.string(t)
		}
		w.b.WriteByte(']')
	}
	if f.ToolChoice != (provider.ToolChoice{}) {
		w.key("tool_choice")
		w.open()
		w.text("mode", string(f.ToolChoice.Mode))
		w.text("tool", f.ToolChoice.Tool)
		w.close()
	}
	w.text("final", f.Final)
	w.text("note", f.Note)
	w.text("system", f.System)
	w.text("answered_by", f.AnsweredBy)
	w.close()
}

func (w *writer) replied(f *Replied) {
	w.meta(&f.Meta)
	w.key("message")
	w.open()
	w.key("role")
	w.string(string(f.Message.Role))
	w.key("parts")
	w.parts(f.Message.Parts)
	w.close()
	w.key("stop")
	w.string(string(f.Stop))
	w.text("model", f.Model)
	w.text("response_id", f.ResponseID)
	w.key("usage")
	w.open()
	w.key("input")
	w.int(f.Usage.Input)
	w.key("output")
	w.int(f.Usage.Output)
	w.number("cache_read", f.Usage.CacheRead)
	w.number("cache_write", f.Usage.CacheWrite)
	w.number("reasoning", f.Usage.Reasoning)
	w.flag("estimated", f.Usage.Estimated)
	w.text("raw", f.Usage.Raw)
	w.close()
	w.number("cost", int64(f.Cost))
	w.flag("priced", f.Priced)
	w.close()
}

func (w *writer) toolStarted(f *ToolStarted) {
	w.meta(&f.Meta)
	w.key("tool_call")
	w.call(f.Call)
	w.key("idempotency_key")
	w.string(f.IdempotencyKey)
	w.flag("repeatable", f.Repeatable)
	w.close()
}

func (w *writer) toolFinished(f *ToolFinished) {
	w.meta(&f.Meta)
	w.key("tool_call")
	w.call(f.Call)
	w.key("result")
	if r := f.Result; r == nil {
		w.b.WriteString("null")
	} else {
		w.open()
		w.resultFields(&r.ToolResult)
		w.key("status")
		w.string(string(r.Status))
		w.raw("data", r.Data)
		if r.Class != fault.None {
			w.key("class")
			w.any(r.Class)
		}
		w.text("cause", r.Cause)
		w.number("cut", int64(r.Cut))
		w.number("notes", int64(r.Notes))
		w.flag("polls", r.Polls)
		w.close()
	}
	w.number("took", int64(f.Took))
	w.number("attempts", int64(f.Attempts))
	w.close()
}

// meta opens the fact and writes its envelope.
func (w *writer) meta(m *Meta) {
	w.open()
	w.key("run")
	w.string(m.Origin.Run)
	w.text("parent", m.Origin.Parent)
	w.text("agent", m.Origin.Agent)
	w.text("trace", m.Origin.Trace)
	w.number("step", int64(m.Step))
	w.text("call", m.Call)
	w.text("by", m.By)
}

func (w *writer) parts(parts []provider.Part) {
	if parts == nil {
		w.b.WriteString("null")
		return
	}
	w.b.WriteByte('[')
	for i := range parts {
		p := &parts[i]
		if i > 0 {
			w.b.WriteByte(',')
		}
		if p.Media != nil || p.Source != nil || p.Opaque != nil {
			w.any(p)
			continue
		}
		w.open()
		w.key("kind")
		w.string(string(p.Kind))
		w.text("text", p.Text)
		if p.Call != nil {
			w.key("call")
			w.call(p.Call)
		}
		if p.Result != nil {
			w.key("result")
			w.open()
			w.resultFields(p.Result)
			w.close()
		}
		w.flag("cache", p.Cache)
		w.close()
	}
	w.b.WriteByte(']')
}

func (w *writer) call(c *provider.ToolCall) {
	if c == nil {
		w.b.WriteString("null")
		return
	}
	w.open()
	w.text("id", c.ID)
	w.text("provider_id", c.ProviderID)
	w.key("name")
	w.string(c.Name)
	w.raw("input", c.Input)
	w.text("invalid", c.Invalid)
	w.close()
}

func (w *writer) resultFields(r *provider.ToolResult) {
	w.key("call_id")
	w.string(r.CallID)
	w.key("name")
	w.string(r.Name)
	if len(r.Parts) > 0 {
		w.key("parts")
		w.parts(r.Parts)
	}
	w.flag("error", r.Error)
}

func (w *writer) open() {
	w.b.WriteByte('{')
	w.comma = false
}

func (w *writer) close() {
	w.b.WriteByte('}')
	w.comma = true
}

// key writes a key, which has to be plain.
func (w *writer) key(name string) {
	if w.comma {
		w.b.WriteByte(',')
	}
	w.b.WriteByte('"')
	w.b.WriteString(name)
	w.b.WriteString(`":`)
	w.comma = true
}

// text, number, flag and raw write a field unless it is empty.
func (w *writer) text(key, s string) {
	if s != "" {
		w.key(key)
		w.string(s)
	}
}

func (w *writer) number(key string, n int64) {
	if n != 0 {
		w.key(key)
		w.int(n)
	}
}

func (w *writer) flag(key string, v bool) {
	if v {
		w.key(key)
		w.b.WriteString("true")
	}
}

func (w *writer) raw(key string, raw json.RawMessage) {
	if len(raw) > 0 {
		w.key(key)
		if err := json.Compact(&w.b, raw); err != nil && w.err == nil {
			w.err = err
		}
	}
}

func (w *writer) int(n int64) {
	w.b.Write(strconv.AppendInt(w.b.AvailableBuffer(), n, 10))
}

// string writes a string. One with anything that needs to be escaped is left to encoding/json.
func (w *writer) string(s string) {
	if !plain(s) {
		w.any(s)
		return
	}
	w.b.WriteByte('"')
	w.b.WriteString(s)
	w.b.WriteByte('"')
}

// plain reports whether a string is the same in JSON.
func plain[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// any writes a value with encoding/json.
func (w *writer) any(v any) {
	data, err := marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.b.Write(data)
	w.comma = true
}
