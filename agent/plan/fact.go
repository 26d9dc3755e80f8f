package plan

import (
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Fact is what is recorded about a run of plans, in a log of its own. Facts are the only input of
// a [Machine]: the same facts make the same state, in any process. The facts are the types of this
// file, by pointer; no other package can add one. A fact must not be changed once it has been
// applied.
type Fact interface {
	// Envelope returns what all facts have in common.
	Envelope() Meta
	meta() *Meta
	kind() string
}

// A Meta is the envelope of a fact.
type Meta struct {
	Log  string    `json:"-"` // the name of the run of plans
	Seq  uint64    `json:"-"` // the number of the fact in its log, from 1
	Time time.Time `json:"-"` // when it was recorded
	By   string    `json:"by,omitempty"`
}

// Envelope returns a copy of m.
func (m *Meta) Envelope() Meta { return *m }

func (m *Meta) meta() *Meta { return m }

// Proposed begins a run with plans: the first one runs, and each other one if all before it have
// failed.
type Proposed struct {
	Meta
	Plans   []Proposal `json:"plans"`
	Options Options    `json:"options"`
}

// A Proposal is a plan and what is to be decided about it.
type Proposal struct {
	Plan Plan `json:"plan"`
	// Asks are the nodes that ask for approval. The plan needs approval if there are any.
	Asks []string `json:"asks,omitempty"`
}

// Options say how plans run.
type Options struct {
	Parallel int `json:"parallel,omitempty"` // nodes at a time; 0: 4
	// KeepGoing continues with the nodes that don't depend on one that has failed. Otherwise none
	// starts after a failure; what is in progress ends, and its results are kept.
	KeepGoing bool `json:"keep_going,omitempty"`
	// AskOnFailure asks a person what to do when nodes have failed for good: retry, skip or waive
	// them, or give up. Otherwise what the plan has done is undone, and the next plan runs.
	AskOnFailure bool `json:"ask_on_failure,omitempty"`
}

const defaultParallel = 4

// Approved approves the current plan. It holds for the plan with that hash only.
type Approved struct {
	Meta
	Hash string `json:"hash"`
}

// Rejected rejects the current plan. What was done before a revision is undone, and no other plan
// runs.
type Rejected struct {
	Meta
	Hash   string `json:"hash"`
	Reason string `json:"reason,omitempty"`
	// Suggestion is what a person wants instead, for whoever proposed the plan.
	Suggestion string `json:"suggestion,omitempty"`
}

// NodeStarted is recorded before a node begins.
type NodeStarted struct {
	Meta
	Node    string `json:"node"`
	Attempt int    `json:"attempt"` // from 1; it counts in each round anew
	Round   int    `json:"round"`   // of the review, from 1
	// Key is the idempotency key of the node's effect. It is the same for all attempts of a round.
	Key string `json:"key"`
}

// NodeEnded is the end of an attempt.
type NodeEnded struct {
	Meta
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Round   int    `json:"round"`
	// Status is that of the attempt, for readers: done or failed.
	Status NodeStatus `json:"status,omitempty"`
	// Output is what the node produced, as JSON; empty if it failed.
	Output json.RawMessage `json:"output,omitempty"`
	// Error says why it failed; empty if it didn't.
	Error string      `json:"error,omitempty"`
	Class fault.Class `json:"class,omitempty"`
	// Final says that the node isn't tried again unless a person asks for it, because it may have
	// had an effect.
	Final bool          `json:"final,omitempty"`
	Took  time.Duration `json:"took,omitempty"`
}

// Judged is the verdict of one check on the result of a node. A check that failed to judge is a
// verdict that isn't passed.
type Judged struct {
	Meta
	Node     string `json:"node"`
	Round    int    `json:"round"`
	Check    string `json:"check"`
	Passed   bool   `json:"passed"`
	Feedback string `json:"feedback,omitempty"` // for the next round
}

// Waived accepts a node as it is: what its checks say, or, without a check, that it has failed.
type Waived struct {
	Meta
	Node   string `json:"node"`
	Check  string `json:"check,omitempty"` // empty: the node
	Reason string `json:"reason,omitempty"`
}

// Skipped skips a node, and with it all that depends on it.
type Skipped struct {
	Meta
	Node   string `json:"node"`
	Reason string `json:"reason,omitempty"`
}

// Retried has a node that failed for good tried again, with as many attempts as before.
type Retried struct {
	Meta
	Node string `json:"node"`
}

// Granted gives more rounds to a node whose review has used up its own.
type Granted struct {
	Meta
	Node   string `json:"node"`
	Rounds int    `json:"rounds"`
}

// Revised replaces the current plan by its next version. What is done or in progress stays as it
// is: the revision has those nodes unchanged.
type Revised struct {
	Meta
	Proposal Proposal `json:"proposal"`
}

// GaveUp ends the current plan: what is in progress ends, and what was done is undone.
type GaveUp struct {
	Meta
	Reason string `json:"reason,omitempty"`
	// All says that no other plan runs either.
	All bool `json:"all,omitempty"`
}

// Undone says what became of the effect of a node of a plan that has failed.
type Undone struct {
	Meta
	Node string `json:"node"`
	// Left says why the effect, or a part of it, is still there; empty if it isn't.
	Left string `json:"left,omitempty"`
}

// Failed ends a plan that has failed, after its effects were undone as far as possible. The next
// plan follows, if there is one.
type Failed struct {
	Meta
	Plan   string    `json:"plan,omitempty"` // its ID
	Reason string    `json:"reason"`
	Undone []string  `json:"undone,omitempty"` // nodes
	Left   []Remains `json:"left,omitempty"`
}

// Remains are what a failed plan left behind.
type Remains struct {
	Node string `json:"node"`
	Why  string `json:"why"`
}

// Ended ends the run.
type Ended struct {
	Meta
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// A Status is how a run of plans has ended.
type Status string

// The ends of a run.
const (
	Completed Status = "completed"
	AllFailed Status = "failed"   // every plan has
	Refused   Status = "rejected" // a person rejected the plan
	Canceled  Status = "canceled"
)
