package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// A Plan is a graph of work that is proposed before it is done. A plan that was given to
// [Runner.Start] or whose Hash was approved must not be changed; make a new version instead.
//
// It waits for approval if it calls a tool that always asks: see [Runner.Start].
type Plan struct {
	// ID tells alternatives apart, for people and in reports.
	ID    string `json:"id,omitempty"`
	Title string `json:"title"`
	Why   string `json:"why,omitempty"`
	// Nodes are the work, in any order.
	Nodes []Node `json:"nodes"`
	// Version counts the revisions of a plan, from 1; 0 means 1. A revision gets the next one.
	Version int `json:"version,omitempty"`
}

// A Node is one piece of a plan's work: a call of a tool, or a task for a worker, which is an
// agent. It starts when all nodes that it depends on are done: those in After, and those whose
// outputs its input refers to.
type Node struct {
	// ID is unique in its plan: 1 to 64 letters, digits, '-' and '_'.
	ID    string   `json:"id"`
	After []string `json:"after,omitempty"`

	// Tool is the tool to call with Input. The input may refer to outputs of other nodes: see
	// [From].
	Tool  string         `json:"tool,omitempty"`
	Input map[string]any `json:"input,omitempty"`

	// Worker is the agent that gets Prompt, with the outputs of the nodes in After. A node has
	// either a tool or a worker.
	Worker string `json:"worker,omitempty"`
	Prompt string `json:"prompt,omitempty"`

	// Retry says how often the node is tried again after a failure that may pass; nil: twice, each
	// time after 2 s.
	Retry *Retry `json:"retry,omitempty"`
	// Timeout is how long an attempt may work; 0: 60 s, and 30 minutes for a worker. The time in
	// which it waits for a person or for a lease doesn't count.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Review has the result judged before nodes that depend on it start; nil: no review.
	Review *Review `json:"review,omitempty"`
}

// A Retry says how a node that failed is tried again. Only failures of the classes transient,
// degraded and rate limited are, and a call that ran only if its tool is read-only or idempotent:
// it then has the same idempotency key.
type Retry struct {
	Max  int           `json:"max"`            // tries after the first
	Wait time.Duration `json:"wait,omitempty"` // before each
}

// The defaults of a [Node].
const (
	defaultTries   = 2
	defaultWait    = 2 * time.Second
	defaultTimeout = 60 * time.Second
	workerTimeout  = 30 * time.Minute
	defaultRounds  = 3
)

// A Review is a loop: the node produces a result, checks judge it in parallel, and if one of them
// doesn't pass, the node is done again with what they said. A person is asked when the rounds are
// used up.
type Review struct {
	// Checks are the names of the host's checks.
	Checks []string `json:"checks"`
	// Rounds is how often the node is done at most; 0: 3.
	Rounds int `json:"rounds,omitempty"`
}

func (n *Node) retry() Retry {
	if n.Retry == nil {
		return Retry{Max: defaultTries, Wait: defaultWait}
	}
	return *n.Retry
}

// limit returns how long an attempt of the node may work.
func (n *Node) limit() time.Duration {
	switch {
	case n.Timeout != 0:
		return n.Timeout
	case n.Worker != "":
		return workerTimeout
	}
	return defaultTimeout
}

func (n *Node) rounds() int {
	switch {
	case n.Review == nil:
		return 1
	case n.Review.Rounds == 0:
		return defaultRounds
	}
	return n.Review.Rounds
}

// UnmarshalJSON reads a node. Numbers in its input keep all their digits.
func (n *Node) UnmarshalJSON(data []byte) error {
	type plain Node
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode((*plain)(n))
}

// Hash identifies what is approved: the title, the nodes with all their settings, and the version.
// It is the SHA-256 of their JSON, in hexadecimal. A plan that can't be encoded has the hash "",
// which nobody can approve; [Plan.Check] says why.
func (p *Plan) Hash() string {
	if p == nil {
		return ""
	}
	q := *p
	q.Version = max(q.Version, 1)
	text, err := json.Marshal(q)
	if bytes.Contains(text, []byte(`\ufffd`)) { // so Go 1.26 writes invalid UTF-8 in a text, unlike Go 1.27
		if own, _ := q.copied(); own != nil {
			text, err = json.Marshal(own)
		}
	}
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Node returns the node with an id.
func (p *Plan) Node(id string) (*Node, bool) {
	if p == nil {
		return nil, false
	}
	for i := range p.Nodes {
		if p.Nodes[i].ID == id {
			return &p.Nodes[i], true
		}
	}
	return nil, false
}

// copied returns a plan as a journal would return it, which shares nothing with p.
func (p *Plan) copied() (*Plan, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	q := new(Plan)
	if err := json.Unmarshal(text, q); err != nil {
		return nil, err
	}
	q.Version = max(q.Version, 1)
	return q, nil
}
