package machine

import (
	"maps"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Caller says for whom a run works, and as part of what. All of it is the host's, and optional.
type Caller struct {
	User     string `json:"user,omitempty"`     // the person that the run works for
	Task     string `json:"task,omitempty"`     // the host's name for what it is about
	Pipeline string `json:"pipeline,omitempty"` // the job or plan that the run is a part of
	// TraceParent is the caller's span, as a W3C traceparent; its trace id is that of the run.
	TraceParent string `json:"traceparent,omitempty"`
}

// TitleChanged gives the session another title, which lists show.
type TitleChanged struct {
	Meta
	Title string `json:"title,omitempty"`
}

// A keyState is the key of an input or a message, and the run that it started or that has read it.
type keyState struct {
	Key string `json:"key"`
	Run string `json:"run"`
}

// maxKeys is how many keys of inputs a session remembers.
const maxKeys = 100

// RunOf returns the run of an input or a message with this key; "" if there is none, or if 100
// other keys were used since.
func (s *State) RunOf(key string) string {
	for _, k := range s.Keys {
		if k.Key == key {
			return k.Run
		}
	}
	return ""
}

func (f *TitleChanged) apply(m *Machine, _ *RunState) string {
	if f.Title == "" {
		return "its title is empty"
	}
	problem := checkHead(f.Title, nil, "", "", nil)
	if problem == "" {
		m.s.Title = f.Title
	}
	return problem
}

// addKey remembers the key of an input.
func (s *State) addKey(key, run string) {
	if key == "" {
		return
	}
	s.Keys = append(s.Keys[max(len(s.Keys)-maxKeys+1, 0):len(s.Keys):len(s.Keys)], keyState{key, run})
}

// OwnerLabel is the label with which the head of a session says who it belongs to. Inputs can't set
// it.
const OwnerLabel = "pawl.owner"

// checkHead says why a session can't have a title, labels, an owner, a parent or ancestors of its
// run; "" if it can.
func checkHead(title string, labels map[string]string, owner, parent string, tree []Ancestor) string {
	if len(tree) > maxAncestors {
		return "its run has too many ancestors"
	}
	h := headOf(title, labels, owner, parent, tree)
	if err := h.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// headOf returns the part of a session's head that doesn't depend on what its run does.
func headOf(title string, labels map[string]string, owner, parent string, tree []Ancestor) *journal.HeadUpdate {
	h := &journal.HeadUpdate{Title: title, Labels: labels, Parent: parent}
	if owner == "" && len(tree) == 0 {
		return h
	}
	if h.Labels = maps.Clone(labels); h.Labels == nil {
		h.Labels = make(map[string]string)
	}
	if owner != "" {
		h.Labels[OwnerLabel] = owner
	}
	if len(tree) > 0 {
		h.Labels[TreeLabel] = tree[0].Run
	}
	return h
}

// IsReserved reports whether a label of a session's head is set from something else, so that inputs
// and hosts can't set it, and says from what.
func IsReserved(key string) (from string, ok bool) {
	switch key {
	case OwnerLabel:
		return "Input.Owner", true
	case TreeLabel:
		return "the run that has started the input", true
	}
	return "", false
}
