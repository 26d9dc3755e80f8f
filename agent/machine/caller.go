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

// A KeyState is the key of an input or a message, and the run that it started or that has read it.
type KeyState struct {
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
	problem := checkHead(f.Title, nil, "", "")
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
	s.Keys = append(s.Keys[max(len(s.Keys)-maxKeys+1, 0):len(s.Keys):len(s.Keys)], KeyState{key, run})
}

// OwnerLabel is the label with which the head of a session says who it belongs to. Inputs can't set
// it.
const OwnerLabel = "pawl.owner"

// checkHead says why a session can't have a title, labels, an owner or a parent; "" if it can.
func checkHead(title string, labels map[string]string, owner, parent string) string {
	h := headOf(title, labels, owner, parent)
	if err := h.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// headOf returns the part of a session's head that doesn't depend on what its run does.
func headOf(title string, labels map[string]string, owner, parent string) *journal.HeadUpdate {
	h := &journal.HeadUpdate{Title: title, Labels: labels, Parent: parent}
	if owner != "" {
		if h.Labels = maps.Clone(labels); h.Labels == nil {
			h.Labels = make(map[string]string)
		}
		h.Labels[OwnerLabel] = owner
	}
	return h
}
