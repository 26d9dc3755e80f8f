package river

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

const legKind = "pawl.leg"

// A leg is the arguments of a job. Those of a job that [Wake] has queued are Session and Key alone.
type leg struct {
	Session string `json:"session"`
	Agent   string `json:"agent,omitempty"`
	// Input is an agent.Input as JSON, in a string: jsonb would refuse the character 0, and change
	// numbers. When the run has started, it has only Session and Key. Empty: the newest run.
	Input string `json:"input,omitempty"`
	// Deaths counts the workers that died of the leg, or with it.
	Deaths int    `json:"deaths,omitempty"`
	Key    string `json:"key" river:"unique"`
}

// Kind returns the name of the kind of jobs.
func (leg) Kind() string { return legKind }

// once makes jobs with the same key one job, until River deletes it: by default a day after it was
// completed.
var once = river.UniqueOpts{ByArgs: true}

// Enqueue queues the first leg of a run, in the caller's transaction: the run starts if and only if
// that commits. A client without workers will do, or one with SkipUnknownJobCheck. agentName names
// one of the Config.Agents of those that work the queue.
//
// The input needs a Session and a Key. The same two again are the same job, or, after that is
// deleted, a job that finds that the run has started: a repetition does no harm.
//
// A job carries all fields of an input except for Tools, which are functions: use those of the
// agent, or its Sources. To resume a run, decide and call [Wake]. What can't be carried is an
// *[agent.ArgError]. Whether the agent takes the input is checked by the worker, which cancels the
// job if it never will.
//
// o may be nil. Queue, Priority, MaxAttempts and Tags are those of all jobs of the run, except for
// those of Wake and those that replace a discarded one, which have River's defaults. UniqueOpts is
// ignored.
func Enqueue(ctx context.Context, tx pgx.Tx, c *river.Client[pgx.Tx], agentName string, in agent.Input,
	o *river.InsertOpts) error {
	if tx == nil || c == nil {
		return &agent.ArgError{Func: "river.Enqueue", Problem: "the transaction or the client is nil"}
	}
	if agentName != machine.CleanName(agentName) {
		return &agent.ArgError{Func: "river.Enqueue", Problem: fmt.Sprintf("%q is no name of an agent", agentName)}
	}
	if err := checkName("Input.Session", in.Session); err != nil {
		return err
	}
	text, err := encode(&in)
	if err != nil {
		return err
	}
	var opts river.InsertOpts
	if o != nil {
		opts = *o
	}
	opts.UniqueOpts = once
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q", in.Session, in.Key))
	_, err = c.InsertTx(ctx, tx, leg{Session: in.Session, Agent: agentName, Input: text,
		Key: hex.EncodeToString(key[:16])}, &opts)
	if err != nil {
		return fmt.Errorf("river: queuing the first leg of session %q: %w", in.Session, err)
	}
	return nil
}

// Wake queues a leg for a session that something was posted to: call it after
// [agent.Session.Decide], in any process. If the caller dies between the two, the leg is queued a
// little later: see Config.Watch. Each call queues a job of its own. One too many, or for a session
// that waits for something else, does nothing. The job of a session that doesn't exist is canceled.
func Wake(ctx context.Context, c *river.Client[pgx.Tx], session string) error {
	if c == nil {
		return &agent.ArgError{Func: "river.Wake", Problem: "the client is nil"}
	}
	if err := checkName("session", session); err != nil {
		return err
	}
	if _, err := c.Insert(ctx, leg{Session: session, Key: rand.Text()}, nil); err != nil {
		return fmt.Errorf("river: queuing a leg of session %q: %w", session, err)
	}
	return nil
}

// checkName returns what is wrong with the name of a session.
func checkName(field, name string) error {
	if name != "" && name == machine.CleanName(name) {
		return nil
	}
	return &agent.ArgError{Field: field, Problem: fmt.Sprintf(
		"%q is no name of a session: give valid UTF-8 of 1 to %d bytes without control characters", name,
		journal.MaxName)}
}

// encode returns an input as a job carries it.
func encode(in *agent.Input) (string, error) {
	switch {
	case in.Key == "":
		return "", &agent.ArgError{Field: "Input.Key",
			Problem: "it is empty; a job may be repeated, and the key makes that one run"}
	case strings.TrimSpace(in.Prompt) == "" && len(in.Parts) == 0:
		return "", &agent.ArgError{Field: "Input.Prompt", Problem: "it is empty; ask something, or give Parts"}
	}
	text, err := carry.Encode(in)
	return string(text), err
}

// started returns what a later leg needs of the input that has started a run: so a job that comes
// late doesn't drive another one. It is empty if the input isn't known.
func started(w agent.Work) string {
	in, ok := w.(agent.Input)
	if !ok {
		return ""
	}
	text, _ := machine.Marshal(map[string]string{"Session": in.Session, "Key": in.Key})
	return string(text)
}
