package machine

import (
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// next returns the state after another call, and how often in a row the call was made to no avail then.
func (t ToolState) next(input, result uint64, ok bool) (ToolState, int) {
	if t.Same == 0 || t.Input != input {
		t.Same, t.Failing = 0, 0
	}
	if t.Same > 0 && t.Result == result {
		t.Same++
	} else {
		t.Same = 1
	}
	if ok {
		t.Failing = 0
	} else {
		t.Failing++
	}
	t.Input, t.Result = input, result
	return t, max(t.Same, t.Failing)
}

// judgeRepeat returns how often in a row the call has been made to no avail if it ends with res, and what the tool's state
// is then. Calls that polled, waited for a person or never ran don't count.
func (r *RunState) judgeRepeat(call *provider.ToolCall, res *ToolResult, polls bool) (ToolState, int) {
	t := r.Tools[call.Name]
	switch res.Status {
	case tools.Invalid:
		t.Invalid++
	case tools.OK, tools.Answered:
		t.OK++
		t.Invalid = 0
	case tools.Failed, tools.Unverified, tools.TimedOut: // the input fitted
		t.Invalid = 0
	}
	if polls {
		t.Same, t.Failing = 0, 0
		return t, 0
	}
	switch res.Status {
	case tools.Rejected, tools.NotRun, tools.Canceled, tools.Answered, tools.InDoubt, tools.Unavailable:
		return t, 0
	}
	return t.next(Hash(string(call.Input)+call.Invalid), hashParts(res.Parts[:max(len(res.Parts)-res.Notes, 0)]), res.Status == tools.OK)
}

// repeats reports whether the model is to be told that it repeats itself, if a call ends with res.
func (r *RunState) Repeats(call *provider.ToolCall, res *ToolResult) bool {
	t := r.Tools[call.Name]
	if r.Limits.Repeats <= 0 || max(t.Same, t.Failing) < repeatWarning-1 { // whatever res is
		return false
	}
	_, n := r.judgeRepeat(call, res, res.Polls)
	return n >= repeatWarning
}

// hashString is FNV-1a, 64 bits (draft-eastlake-fnv), over characters: stable across machines, which hash/maphash is not,
// and the same for bytes that aren't UTF-8 and what JSON makes of them.
func Hash(s string) uint64 { return fnv(fnvOffset, s) }

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnv(h uint64, s string) uint64 {
	for _, r := range s {
		h = (h ^ uint64(r)) * fnvPrime
	}
	return h
}

func hashParts(parts []provider.Part) uint64 {
	h := uint64(fnvOffset)
	for i := range parts {
		h = fnv(fnv(h, string(parts[i].Kind)), parts[i].Text)
		if m := parts[i].Media; m != nil {
			for _, c := range m.Data { // not characters
				h = (h ^ uint64(c)) * fnvPrime
			}
			h = fnv(fnv(h, m.URL), m.FileID)
		}
	}
	return h
}
