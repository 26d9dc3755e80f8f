package machine

import (
	"cmp"
	"encoding/json"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// Totals are what all runs of a session have used, with their subagents, for tools that read logs.
// A copy of a session begins with none, because its original has paid for the runs that were
// copied. It has those of the original if it has the same name.
type Totals struct {
	Cost     provider.Money `json:"cost,omitempty"` // as far as prices are known
	Steps    int            `json:"steps,omitempty"`
	Unpriced bool           `json:"unpriced,omitempty"` // some usage had no known price
	Copied   bool           `json:"copied,omitempty"`   // the newest run is one of the original's
}

// add counts what a fact has added to the newest run.
func (t *Totals) add(r *RunState, steps int, cost provider.Money) {
	if t.Copied {
		return
	}
	t.Steps += r.Step - steps
	t.Cost = t.Cost.Add(r.Cost - cost)
	t.Unpriced = t.Unpriced || r.Unpriced
}

// A HeadInfo is what the host's part of a session's head says: see [journal.HeadUpdate].Info.
type HeadInfo struct {
	Cost     provider.Money `json:"cost,omitempty"`
	Steps    int            `json:"steps,omitempty"`
	Unpriced bool           `json:"unpriced,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Model    string         `json:"model,omitempty"` // of the newest run
	// Agent is the name of the newest run's agent, and Precedence and Group are the run's; all only
	// for a run that was queued. A name that doesn't fit is left out.
	Agent      string `json:"agent,omitempty"`
	Precedence int    `json:"precedence,omitempty"`
	Group      string `json:"group,omitempty"`
}

// InfoOf returns what a head says. It is empty for the head of a session that an older version has
// written, and that has had no run since.
func InfoOf(h *journal.Head) (info HeadInfo) {
	_ = json.Unmarshal(h.Info, &info) // what can't be read says nothing
	return info
}

// info returns the host's part of the head. Names that don't fit are left out.
func (s *State) info() []byte {
	info := HeadInfo{Cost: s.Totals.Cost, Steps: s.Totals.Steps, Unpriced: s.Totals.Unpriced, Mode: s.Mode}
	if r := s.Run; r != nil {
		if info.Model = cmp.Or(r.Model, s.Model); r.Queue != nil {
			info.Agent, info.Precedence, info.Group = r.Agent, r.precedence(), r.Queue.Group
		}
	}
	if info == (HeadInfo{}) {
		return nil
	}
	text, _ := json.Marshal(info)
	if len(text) > journal.MaxInfo {
		info.Model = ""
		text, _ = json.Marshal(info)
	}
	if len(text) > journal.MaxInfo {
		info.Mode, info.Agent, info.Group = "", "", ""
		text, _ = json.Marshal(info)
	}
	return text
}
