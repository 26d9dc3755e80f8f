package machine

import (
	"cmp"
	"fmt"
	"maps"

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

// MaxOwnLabels is how many labels a session has of its own.
const MaxOwnLabels = 16

func (f *LabelChanged) apply(m *Machine, _ *RunState) string {
	own := m.s.OwnLabels.Map()
	if own == nil {
		own = make(map[string]string)
	}
	own[f.Key] = cmp.Or(f.Value, "removed")
	if f.Key == OwnerLabel {
		return "its key is the one that shows the owner"
	}
	if problem := checkHead("", own, "", ""); problem != "" {
		return problem
	}
	if f.Value == "" {
		delete(own, f.Key)
	}
	if len(own) > MaxOwnLabels {
		return fmt.Sprintf("the session would have more than %d labels of its own", MaxOwnLabels)
	}
	m.s.OwnLabels = provider.LabelsOf(own)
	return ""
}

// checkOwn says why a session can't have these labels and totals; "" if it can.
func (s *State) checkOwn() string {
	own := s.OwnLabels.Map()
	_, owners := own[OwnerLabel]
	switch {
	case owners || len(own) > MaxOwnLabels:
		return "its own labels are too many, or one of them is the one that shows the owner"
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
