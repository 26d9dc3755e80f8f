package machine

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// LabelChanged sets a label of the session itself, or removes it if Value is empty. Runs don't
// change these labels and don't have them. Lists show them with those of the newest run, and in
// place of a label of that run with the same key.
type LabelChanged struct {
	Meta
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// maxOwnLabels is how many labels a session has of its own.
const maxOwnLabels = 16

func (f *LabelChanged) apply(m *Machine, _ *RunState) string {
	own, problem := m.s.WithLabel(f.Key, f.Value)
	if problem == "" {
		m.s.OwnLabels = own
	}
	return problem
}

// WithLabel returns the session's own labels with one more, or without one if its value is empty,
// and what is wrong with that.
func (s *State) WithLabel(key, value string) (_ provider.LabelSet, problem string) {
	own := s.OwnLabels.Map()
	if own == nil {
		own = make(map[string]string)
	}
	own[key] = cmp.Or(value, "removed")
	if from, ok := IsReserved(key); ok {
		return "", fmt.Sprintf("the key %q is set from %s; use another key", key, from)
	}
	if problem := checkHead("", own, "", "", nil); problem != "" {
		return "", strings.TrimLeft(strings.TrimPrefix(problem, "journal: HeadUpdate.Labels"), ": ")
	}
	if value == "" {
		delete(own, key)
	}
	if len(own) > maxOwnLabels {
		return "", fmt.Sprintf("the session has %d labels of its own, and more aren't allowed; remove one", maxOwnLabels)
	}
	return provider.LabelsOf(own), ""
}

// checkOwn says why a session can't have these labels and totals; "" if it can.
func (s *State) checkOwn() string {
	own := s.OwnLabels.Map()
	_, owners := own[OwnerLabel]
	_, trees := own[TreeLabel]
	switch {
	case owners || trees || len(own) > maxOwnLabels:
		return "its own labels are too many, or one of them is one that hosts can't set"
	case s.Totals.Cost < 0 || s.Totals.Steps < 0:
		return "its totals are negative"
	}
	return ""
}

// listedLabels returns the labels that lists show.
func listedLabels(run, own provider.LabelSet) map[string]string {
	labels := run.Map()
	if labels == nil {
		return own.Map()
	}
	maps.Copy(labels, own.Map())
	return labels
}
