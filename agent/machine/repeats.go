package machine

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file detects runs that are stuck: one tool is called again and again with the same input,
// and gives the same result or fails each time, or tools keep failing.

// WarnAfter is the repetition or failure in a row from which on the model is warned.
const WarnAfter = 3

// Repeats reports whether the model must be warned that it repeats itself if the call ends with
// res: from the third repetition on.
func (r *RunState) Repeats(call *provider.ToolCall, res *ToolResult) bool {
	if r.Limits.Repeats <= 0 {
		return false
	}
	_, n := r.repeats(call, res)
	return n >= WarnAfter
}

// repeats returns the state of the call's tool if the call ends with res, and how often in a row
// the call was then repeated. Calls that poll, wait for a person or never run aren't counted.
func (r *RunState) repeats(call *provider.ToolCall, res *ToolResult) (ToolState, int) {
	t := r.Tools[call.Name]
	switch res.Status {
	case tools.Invalid:
		t.Invalid++
	case tools.OK, tools.Answered:
		if t.Invalid = 0; res.Succeeded() {
			t.OK++
		}
	case tools.Failed, tools.Unverified, tools.TimedOut: // the input was valid
		t.Invalid = 0
	}
	if res.Polls {
		t.Same, t.Failing = 0, 0
		return t, 0
	}
	switch res.Status {
	case tools.Rejected, tools.NotRun, tools.Canceled, tools.Answered, tools.InDoubt, tools.Unavailable:
		return t, 0
	}
	own := res.Parts[:max(len(res.Parts)-res.Notes, 0)] // without what the agent added
	t.count(Hash(string(call.Input)+call.Invalid), hashParts(own), res.Status == tools.OK)
	return t, max(t.Same, t.Failing)
}

// Fails reports how often in a row the tool of a call has failed if the call ends with res: 0
// unless it fails.
func (r *RunState) Fails(call *provider.ToolCall, res *ToolResult) int {
	if !failed(res.Status) {
		return 0
	}
	n, _ := r.failures(call.Name, res.Status)
	return n
}

// failures returns how many calls of the tool, and of all tools, have failed in a row if a call of
// the tool ends with this status. A success starts both counts anew. Calls that are refused count
// for all tools, those of one reply once. Other calls that don't run, or whose end isn't known,
// change neither.
func (r *RunState) failures(tool string, status tools.Status) (own, all int) {
	own, all = r.Tools[tool].Failed, r.Failures
	switch {
	case failed(status):
		return own + 1, all + 1
	case status.Good():
		return 0, 0
	case refused(status) && !slices.ContainsFunc(r.Calls, func(c CallState) bool {
		return c.Result != nil && refused(c.Result.Status)
	}):
		return own, all + 1
	}
	return own, all
}

// refused reports whether a call didn't run because of what the model asked for: a tool that isn't
// there, an input that doesn't fit, or what a policy, a hook or the mode denies.
func refused(status tools.Status) bool {
	return status == tools.Unknown || status == tools.Invalid || status == tools.Denied
}

func failed(status tools.Status) bool {
	return status == tools.Failed || status == tools.Unverified || status == tools.TimedOut
}

// count counts a call with the hashes of its input and its result.
func (t *ToolState) count(input, result uint64, ok bool) {
	if t.Same == 0 || t.Input != input {
		t.Same, t.Failing = 0, 0
	}
	if t.Result != result {
		t.Same = 0
	}
	t.Same++
	t.Failing++
	if ok {
		t.Failing = 0
	}
	t.Input, t.Result = input, result
}

// Hash returns the FNV-1a hash (64 bits, draft-eastlake-fnv) of the characters of s. It is the same
// on every machine, which that of hash/maphash isn't. Bytes that aren't UTF-8 have the same hash as
// the characters by which JSON replaces them.
func Hash(s string) uint64 { return hashString(fnvOffset, s) }

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashString(h uint64, s string) uint64 {
	for _, r := range s {
		h = (h ^ uint64(r)) * fnvPrime
	}
	return h
}

func hashParts(parts []provider.Part) uint64 {
	h := uint64(fnvOffset)
	for i := range parts {
		h = hashString(hashString(h, string(parts[i].Kind)), parts[i].Text)
		if m := parts[i].Media; m != nil {
			for _, b := range m.Data { // bytes, not characters
				h = (h ^ uint64(b)) * fnvPrime
			}
			h = hashString(hashString(h, m.URL), m.FileID)
		}
	}
	return h
}
