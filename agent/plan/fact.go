package plan

import (
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// An Event is what [Runner.Watch] yields: *[NodeStarted], *[NodeEnded], *[Failed] and *[Ended],
// which were recorded, and *[Paused]. Events of other types say that something else was recorded,
// such as a decision; Envelope says when and by whom. Events must not be changed.
type Event interface{ Envelope() Meta }

// A Meta is what all events have in common.
type Meta struct {
	Run  string    `json:"-"` // the name of the run of plans
	Seq  uint64    `json:"-"` // the number of the event in its log, from 1; 0 for [Paused]
	Time time.Time `json:"-"` // when it was recorded
	By   string    `json:"by,omitempty"`
}

// Envelope returns a copy of m.
func (m *Meta) Envelope() Meta { return *m }

func (m *Meta) meta() *Meta { return m }

// Paused says what a run waits for now; what was decided already isn't in it. The run goes on by
// itself when it is decided, and with what doesn't depend on it at once.
type Paused struct {
	Meta
	// Pending are the pauses that this [Runner.Watch] hasn't yielded yet: see [Runner.Pending].
	Pending []agent.Pause
}

// A fact is what is recorded about a run of plans, in a log of its own. Facts are the only input of
// a [State]: the same facts make the same state, in any process. They are the types of this file,
// by pointer. A fact must not be changed once it has been applied.
type fact interface {
	Event
	meta() *Meta
	kind() string
}

// proposed begins a run with plans: the first one runs, and each other one if all before it have
// failed.
type proposed struct {
	Meta
	Parent  string     `json:"parent,omitempty"` // the session in which the plan was submitted
	Plans   []proposal `json:"plans"`
	Options options    `json:"options"`
	// Tree are the ancestors of the runs of nodes: see machine.Ancestor.
	Tree []machine.Ancestor `json:"tree,omitempty"`
	// Outside says where text from outside comes from that was in the conversation which has made
	// the plans: see tools.Spec.Outside.
	Outside []string `json:"outside,omitempty"`
	// Hashes are those of Plans before words were erased from them, by which the run and its
	// approval know them; empty if none were.
	Hashes []string `json:"hashes,omitempty"`
}

// A proposal is a plan and what is to be decided about it.
type proposal struct {
	Plan Plan `json:"plan"`
	// Asks are the nodes that ask for approval. The plan needs approval if there are any.
	Asks []string `json:"asks,omitempty"`
}

// options say how plans run: see [Config].
type options struct {
	Parallel     int  `json:"parallel,omitempty"`
	KeepGoing    bool `json:"keep_going,omitempty"`
	AskOnFailure bool `json:"ask_on_failure,omitempty"`
	// OnCancel is empty in runs that v0.1.0 has stored: each cancel undoes, and so does each
	// failure without AskOnFailure.
	OnCancel CancelMode `json:"on_cancel,omitempty"`
}

const defaultParallel = 4

// decided is what a person has decided. It is also what the inbox of a run has.
type decided struct {
	Meta
	Choice choice `json:"choice"`
	Plan   int    `json:"plan,omitempty"` // the index of the plan that was current
	Hash   string `json:"hash,omitempty"` // of the plan that is approved or rejected
	Node   string `json:"node,omitempty"`
	Check  string `json:"check,omitempty"`  // for waive: the check that doesn't count; empty: the node
	Rounds int    `json:"rounds,omitempty"` // for grant
	Text   string `json:"text,omitempty"`   // the reason, or what a person suggests instead
	Keep   bool   `json:"keep,omitempty"`   // for cancel and expire: what was done stays
	// Revision is the next version of the plan, for revise.
	Revision *proposal `json:"revision,omitempty"`
	// Outside is, for revise, like that of the first plans.
	Outside []string `json:"outside,omitempty"`
	// Hashes has, for revise, that of the plan before words were erased from it, as in proposed.
	Hashes []string `json:"hashes,omitempty"`
}

// A choice is what can be decided.
type choice string

const (
	approve  choice = "approve"   // the plan with the hash
	reject   choice = "reject"    // it: what was done before a revision is undone, and no other plan runs
	suggest  choice = "suggest"   // reject, and Text is for whoever has proposed the plan
	revise   choice = "revise"    // replace the plan by its next version, which keeps what has begun
	retry    choice = "retry"     // a node that failed for good, with as many attempts as before
	skip     choice = "skip"      // a node, and with it all that depends on it
	waive    choice = "waive"     // accept a node as it is: what a check says, or that it has failed
	grant    choice = "grant"     // a node more rounds of its review
	giveUp   choice = "give up"   // the plan: what was done is undone, and the next plan runs
	cancel   choice = "cancel"    // the run: no other plan runs
	expire   choice = "expire"    // nobody has decided about the node in time, which ends the run
	sendBack choice = "send back" // a submitted plan to its model, which reads Text; nothing changes
)

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
	Node    string     `json:"node"`
	Attempt int        `json:"attempt"`
	Round   int        `json:"round"`
	Status  NodeStatus `json:"status"` // of the attempt: NodeDone or NodeFailed
	// Output is what the node produced, as JSON; empty if it failed.
	Output json.RawMessage `json:"output,omitempty"`
	// Outside says that text from outside has come into the session of the node: see
	// tools.Spec.Outside.
	Outside bool `json:"outside,omitempty"`
	// Error says why it failed; empty if it didn't.
	Error string      `json:"error,omitempty"`
	Class fault.Class `json:"class,omitempty"`
	// Final says that the node isn't tried again unless a person asks for it, because it may have
	// had an effect.
	Final bool `json:"final,omitempty"`
	// Unbegun says that the attempt has done nothing: it has no run in the node's session.
	Unbegun bool `json:"unbegun,omitempty"`
	// Expires is when the question about the failure expires; zero: never.
	Expires time.Time     `json:"expires,omitzero"`
	Took    time.Duration `json:"took,omitempty"`
}

// judged is the verdict of one check on the result of a node. A check that failed to judge is a
// verdict that isn't passed.
type judged struct {
	Meta
	Plan  int    `json:"plan,omitempty"` // its index
	Node  string `json:"node"`
	Round int    `json:"round"`
	Verdict
}

// undone says what became of the effect of a node of a plan that has failed or is taken back.
type undone struct {
	Meta
	Node string `json:"node"`
	// Left says why the effect, or a part of it, is still there; empty if it isn't.
	Left string `json:"left,omitempty"`
}

// Failed ends a plan that has failed, after its effects were undone as far as possible. The next
// plan follows, if there is one. A call that has failed is left, unless its tool has
// Spec.UndoFailed, or the same call was undone that has succeeded later. Undone and Left are in the
// order of the plan's nodes. A plan that was stopped and keeps what it did ([Config].OnCancel) has
// only what was undone before.
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

// Ended ends the run. If what it did was kept, the lists have the nodes of its last plan, in the
// order of the plan, and Reason counts them.
type Ended struct {
	Meta
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	Done      []string `json:"done,omitempty"`      // they are done, and what they did is there
	Partly    []string `json:"partly,omitempty"`    // they began, and may have done a part of it
	Undone    []string `json:"undone,omitempty"`    // what they did was undone
	Untouched []string `json:"untouched,omitempty"` // they never began
}
