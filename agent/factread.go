package agent

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file reads the four facts that every step has, as factjson.go writes them: with the fields in that order, and
// nothing in between. Anything else it leaves to encoding/json, which decides everything: what is read here means there
// the same. Long sessions are loaded in a fraction of the time that way.

// A reader reads facts, and keeps what the facts of a run share.
type reader struct {
	s     string // of the record at hand
	at    int
	bad   bool
	comma bool

	origin *Origin
	head   string // what the origin was read from
}

// fact reads a fact of one of the four kinds, and reports false if it isn't exactly as written here. Origin.Session is that
// of the session.
func (r *reader) fact(kind, session string, data []byte) (Fact, bool) {
	r.s, r.at, r.bad, r.comma = string(data), 0, false, false
	var f Fact
	switch kind {
	case "step_started":
		f = r.stepStarted(session)
	case "replied":
		f = r.replied(session)
	case "tool_started":
		f = r.toolStarted(session)
	case "tool_finished":
		f = r.toolFinished(session)
	default:
		return nil, false
	}
	return f, !r.bad && r.at == len(r.s)
}

func (r *reader) stepStarted(session string) StepStarted {
	f := StepStarted{Meta: r.meta(session)}
	f.Model, f.Mode = r.text("model"), r.text("mode")
	if r.key("tools") {
		f.Tools = []string{}
		for more := r.list(); more; more = r.next() {
			f.Tools = append(f.Tools, r.string())
		}
	}
	if r.key("tool_choice") {
		r.open()
		f.ToolChoice = provider.ToolChoice{Mode: provider.ToolChoiceMode(r.text("mode")), Tool: r.text("tool")}
		r.close()
	}
	f.Final, f.Note, f.System, f.AnsweredBy = r.text("final"), r.text("note"), r.text("system"), r.text("answered_by")
	r.close()
	return f
}

func (r *reader) replied(session string) Replied {
	f := Replied{Meta: r.meta(session)}
	r.must("message")
	r.open()
	r.must("role")
	f.Message.Role = provider.Role(r.string())
	r.must("parts")
	f.Message.Parts = r.parts()
	r.close()
	r.must("stop")
	f.Stop = provider.StopReason(r.string())
	f.Model, f.ResponseID = r.text("model"), r.text("response_id")
	r.must("usage")
	r.open()
	r.must("input")
	f.Usage.Input = r.int()
	r.must("output")
	f.Usage.Output = r.int()
	f.Usage.CacheRead, f.Usage.CacheWrite, f.Usage.Reasoning = r.number("cache_read"), r.number("cache_write"), r.number("reasoning")
	f.Usage.Estimated, f.Usage.Raw = r.flag("estimated"), r.text("raw")
	r.close()
	f.Cost, f.Priced = provider.Money(r.number("cost")), r.flag("priced")
	r.close()
	return f
}

func (r *reader) toolStarted(session string) ToolStarted {
	f := ToolStarted{Meta: r.meta(session)}
	r.must("tool_call")
	f.Call = r.call()
	r.must("idempotency_key")
	f.IdempotencyKey = r.string()
	f.Repeatable = r.flag("repeatable")
	r.close()
	return f
}

func (r *reader) toolFinished(session string) ToolFinished {
	f := ToolFinished{Meta: r.meta(session)}
	r.must("tool_call")
	f.Call = r.call()
	r.must("result")
	r.open()
	res := new(ToolResult)
	res.ToolResult = r.resultFields()
	r.must("status")
	res.Status = tools.Status(r.string())
	res.Data = r.raw("data")
	if class := r.text("class"); class != "" && res.Class.UnmarshalText([]byte(class)) != nil || res.Class == fault.None && class != "" {
		r.bad = true
	}
	res.Cause, res.Cut, res.Notes, res.Polls = r.text("cause"), r.small("cut"), r.small("notes"), r.flag("polls")
	r.close()
	f.Result = res
	f.Took, f.Attempts = time.Duration(r.number("took")), r.small("attempts")
	r.close()
	return f
}

// meta reads the envelope. Facts of one run share their origin.
func (r *reader) meta(session string) (m Meta) {
	if r.origin != nil && r.origin.Session == session && strings.HasPrefix(r.s, r.head) && !strings.HasPrefix(r.s[len(r.head):], `,"trace":`) && r.originEnds(len(r.head)) {
		r.at, r.comma = len(r.head), true
		m.Origin = r.origin
	} else {
		r.open()
		r.must("run")
		m.Origin = &Origin{Session: session, Run: r.string()}
		m.Parent, m.Agent, m.Trace = r.text("parent"), r.text("agent"), r.text("trace")
		r.origin, r.head = m.Origin, r.s[:r.at]
	}
	m.Step, m.Call, m.By = r.small("step"), r.text("call"), r.text("by")
	return m
}

// originEnds reports whether none of the origin's fields follows at i: they have all been read.
func (r *reader) originEnds(i int) bool {
	rest := r.s[i:]
	return !strings.HasPrefix(rest, `,"parent":`) && !strings.HasPrefix(rest, `,"agent":`)
}

func (r *reader) parts() []provider.Part {
	parts := []provider.Part{}
	for more := r.list(); more; more = r.next() {
		var p provider.Part
		r.open()
		r.must("kind")
		p.Kind, p.Text = provider.PartKind(r.string()), r.text("text")
		if r.key("call") {
			p.Call = r.call()
		}
		if r.key("result") {
			r.open()
			res := r.resultFields()
			r.close()
			p.Result = &res
		}
		p.Cache = r.flag("cache")
		r.close() // media, sources and opaque data are left to encoding/json
		parts = append(parts, p)
	}
	return parts
}

func (r *reader) call() *provider.ToolCall {
	c := new(provider.ToolCall)
	r.open()
	c.ID, c.ProviderID = r.text("id"), r.text("provider_id")
	r.must("name")
	c.Name = r.string()
	c.Input, c.Invalid = r.raw("input"), r.text("invalid")
	r.close()
	return c
}

func (r *reader) resultFields() (res provider.ToolResult) {
	r.must("call_id")
	res.CallID = r.string()
	r.must("name")
	res.Name = r.string()
	if r.key("parts") {
		res.Parts = r.parts()
	}
	res.Error = r.flag("error")
	return res
}

// eat consumes a byte if it comes next.
func (r *reader) eat(c byte) bool {
	if r.at < len(r.s) && r.s[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) open() {
	r.bad = !r.eat('{') || r.bad
	r.comma = false
}

func (r *reader) close() {
	r.bad = !r.eat('}') || r.bad
	r.comma = true
}

// key consumes a key if it comes next.
func (r *reader) key(name string) bool {
	i := r.at
	if r.comma {
		if i >= len(r.s) || r.s[i] != ',' {
			return false
		}
		i++
	}
	rest := r.s[min(i, len(r.s)):]
	if len(rest) < len(name)+3 || rest[0] != '"' || rest[1:1+len(name)] != name || rest[1+len(name)] != '"' || rest[2+len(name)] != ':' {
		return false
	}
	r.at, r.comma = i+len(name)+3, true
	return true
}

func (r *reader) must(name string) { r.bad = !r.key(name) || r.bad }

// list opens an array, and next goes to its next element: each reports whether there is one.
func (r *reader) list() bool {
	r.bad = !r.eat('[') || r.bad
	r.comma = false
	if r.eat(']') {
		r.comma = true
		return false
	}
	return !r.bad
}

func (r *reader) next() bool {
	if r.bad || r.eat(']') {
		r.comma = true
		return false
	}
	r.bad = !r.eat(',') || r.bad
	return !r.bad
}

// string reads a string.
func (r *reader) string() string {
	if !r.eat('"') {
		r.bad = true
		return ""
	}
	begin := r.at
	end := strings.IndexByte(r.s[begin:], '"')
	if end < 0 {
		r.bad = true
		return ""
	}
	if s := r.s[begin : begin+end]; plain(s) {
		r.at = begin + end + 1
		return s
	}
	for i := begin; i < len(r.s); i++ {
		switch r.s[i] {
		case '\\':
			i++
		case '"':
			var s string
			if json.Unmarshal([]byte(r.s[begin-1:i+1]), &s) != nil {
				r.bad = true
			}
			r.at = i + 1
			return s
		}
	}
	r.bad = true
	return ""
}

// text, number, small and flag read a field if it comes next. One that wouldn't have been written is left to encoding/json.
func (r *reader) text(key string) string {
	if !r.key(key) {
		return ""
	}
	return r.string()
}

func (r *reader) number(key string) int64 {
	if !r.key(key) {
		return 0
	}
	return r.int()
}

func (r *reader) small(key string) int {
	n := r.number(key)
	if n > math.MaxInt || n < math.MinInt {
		r.bad = true
	}
	return int(n)
}

func (r *reader) flag(key string) bool {
	if !r.key(key) {
		return false
	}
	if strings.HasPrefix(r.s[r.at:], "true") {
		r.at += len("true")
		return true
	}
	r.bad = true
	return false
}

// int reads a whole number, in the form in which it is written.
func (r *reader) int() int64 {
	i := r.at
	for i < len(r.s) && (r.s[i] >= '0' && r.s[i] <= '9' || r.s[i] == '-') {
		i++
	}
	lit := r.s[r.at:i]
	n, err := strconv.ParseInt(lit, 10, 64)
	if digits := strings.TrimPrefix(lit, "-"); err != nil || len(digits) > 1 && digits[0] == '0' || lit == "-0" {
		r.bad = true
	}
	r.at = i
	return n
}

// raw reads any value, and keeps it as it is. encoding/json checks that it is one.
func (r *reader) raw(key string) json.RawMessage {
	if !r.key(key) {
		return nil
	}
	begin, depth, i := r.at, 0, r.at
scan:
	for ; i < len(r.s); i++ {
		switch r.s[i] {
		case '"':
			for i++; i < len(r.s) && r.s[i] != '"'; i++ {
				if r.s[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				break scan
			}
			depth--
		case ',':
			if depth == 0 {
				break scan
			}
		}
	}
	if i > len(r.s) {
		r.bad = true
		return nil
	}
	raw := json.RawMessage(r.s[begin:i])
	r.at = i
	if !json.Valid(raw) || string(raw) == "null" || raw[0] <= ' ' || raw[len(raw)-1] <= ' ' {
		r.bad = true
	}
	return raw
}
