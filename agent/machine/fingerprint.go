package machine

import "slices"

// A ToolFingerprint identifies a version of a tool.
type ToolFingerprint struct {
	Name   string `json:"name"`
	Schema string `json:"schema"` // fingerprint of its input schema
	// Lazy says that the tool is known but not loaded, so it isn't offered.
	Lazy bool `json:"lazy,omitempty"`
	// Gone says that the tool has disappeared since the run started.
	Gone bool `json:"gone,omitempty"`
}

// ChangeTools returns the tools after a change; it doesn't change its arguments. A new tool comes
// after all others, and so does one that was lazy before. A changed tool keeps its place. A tool
// that is gone but wasn't known is left out.
func ChangeTools(before, changes []ToolFingerprint) []ToolFingerprint {
	out := slices.Clone(before)
	for _, t := range changes {
		i := slices.IndexFunc(out, func(o ToolFingerprint) bool { return o.Name == t.Name })
		switch {
		case i < 0 && t.Gone:
		case i < 0:
			out = append(out, t)
		case out[i].Lazy && !t.Lazy:
			out = append(slices.Delete(out, i, i+1), t)
		default:
			out[i] = t
		}
	}
	return out
}

// A ToolChange is a tool that differs from what it was when the run began. Tools that were added
// aren't listed.
type ToolChange struct {
	Name string `json:"name"`
	Was  string `json:"was"`           // fingerprint of its input schema
	Now  string `json:"now,omitempty"` // empty if the tool is gone
}

// String says how the tool has changed.
func (c ToolChange) String() string {
	if c.Now == "" {
		return c.Name + " is gone"
	}
	return c.Name + " takes another input"
}

// ToolChanges returns how tools differ from what they were. Tools that were added are no change.
func ToolChanges(before, now []ToolFingerprint) []ToolChange {
	schemas := make(map[string]string)
	for _, t := range now {
		if !t.Gone {
			schemas[t.Name] = t.Schema
		}
	}
	var out []ToolChange
	for _, t := range before {
		if schemas[t.Name] != t.Schema && !t.Gone {
			out = append(out, ToolChange{Name: t.Name, Was: t.Schema, Now: schemas[t.Name]})
		}
	}
	return out
}
