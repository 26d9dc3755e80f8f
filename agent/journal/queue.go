package journal

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// A Place is where a session stands in the queue of a [Queue].
type Place struct {
	// Agent is who can go on with it, by the rules of names; it may be empty. A [Claim] names it.
	Agent string `json:"agent,omitempty"`
	// Group is whose turn it is that the session takes, such as a tenant's, by the rules of names;
	// empty: nobody's. See [Claim].
	Group string `json:"group,omitempty"`
	// Precedence is its place in the group: a higher one comes first.
	Precedence int `json:"precedence,omitempty"`
	// Started says that it doesn't wait any more, and counts for its group's limit.
	Started bool `json:"started,omitempty"`
}

// A Queue is a [Store] that keeps the sessions that wait in the order in which they go on. It is
// optional: for another store, package agent/work makes do with [Store.Heads].
//
// A session is in the queue while its newest [HeadUpdate] has a [Place], from [Head].Due on; zero:
// at once. In a group it comes by precedence, then by that time, then by when the session began.
// What else waits doesn't matter: a claim reads as much with a million waiting as with a hundred.
type Queue interface {
	Store
	// Due calls take with the head of each session that has work for a worker, is nobody's child,
	// is of no kind and isn't leased, in any order, until take returns false. Those are sessions
	// with the status running; paused, with something in the inbox; and those whose [Head].Due has
	// come, unless they are queued. A store may leave out all but the 10,000 that are due longest.
	// take must not call the store.
	//
	// It also returns what Claim would take, without a session if there is nothing. If there is
	// neither, this is one statement, which reads no session that isn't due.
	Due(ctx context.Context, c Claim, take func(Head) bool) (first Queued, err error)
	// Claim takes a session out of the queue, and leases it: see [Store.Lease]. Without a session
	// in what it returns there is none that c allows. Sessions that others have leased are left out
	// until their leases end.
	//
	// The owner of the lease starts the session: it appends a head whose Place says Started, or
	// that has none. Otherwise the session is back in its place when the lease of the claim ends.
	Claim(ctx context.Context, c Claim, owner string, ttl time.Duration) (Queued, Lease, error)
	// Delay puts a session back that was claimed with l and that couldn't be started. It has its
	// place again at that time; zero: after 10 s, and each further time after twice as long, up to
	// 7.5 minutes. A new [HeadUpdate] ends that. It is no error if the session has gone on, or was
	// claimed again. Who has released l need not take it again. A lease without a fence is of no
	// claim, and refused.
	Delay(ctx context.Context, l Lease, until time.Time) error
	// Depths counts the sessions in the queue by agent and group, in the order of these. It counts
	// all of them.
	Depths(ctx context.Context) ([]Depth, error)
}

// A Claim says what [Queue].Claim takes. Groups take turns: it is the turn of the first group after
// After that has a session for one of Agents and room for it, and of that group the first session
// goes on.
type Claim struct {
	Agents []string
	// After is the group that had the last turn; after the last one it is the turn of the first.
	After string
	// PerGroup is how many sessions of a group may be claimed or started at a time, for whatever
	// agent; 0: any number. Sessions without a group are never too many. It is counted in the
	// transaction that claims, so claims don't exceed it.
	PerGroup int
	// Full leaves out the sessions that have one of these labels. Of each group and agent the first
	// 10,000 sessions are looked at for that.
	Full []Label
}

// A Queued is a session in a [Queue].
type Queued struct {
	Session string
	Place
	Due time.Time
}

// A Depth says how many sessions a [Queue] has of an agent and a group.
type Depth struct {
	Agent, Group string
	Waiting      int // that wait, or are claimed and haven't started
	Later        int // of those that wait, how many aren't due yet
	Started      int // that have started
	// Oldest is when the one that has waited longest was due; zero if none is due, or if those that
	// are were due at once.
	Oldest time.Time
}

const (
	// shortestDelay and longestDelay are those of [Queue].Delay.
	shortestDelay = 10 * time.Second
	longestDelay  = 450 * time.Second
)

// QueueDelay returns how long [Queue].Delay keeps a session that couldn't be started so many times
// before. It is for those who write a store.
func QueueDelay(tries int) time.Duration {
	d := shortestDelay
	for ; tries > 0 && d < longestDelay; tries-- {
		d *= 2
	}
	return min(d, longestDelay)
}

// ValidateClaimed returns an [*InvalidError] if l can't be of a [Queue].Claim. Stores call it first
// in [Queue].Delay.
func ValidateClaimed(l Lease) error {
	if err := ValidateSession(l.Session); err != nil {
		return err
	}
	if l.Fence == 0 {
		return &InvalidError{"Lease.Fence", "is 0; give the lease that Claim has returned"}
	}
	return nil
}

// Validate returns an [*InvalidError] if c can't be claimed, whatever the store holds.
func (c Claim) Validate() error {
	if len(c.Agents) == 0 {
		return &InvalidError{"Claim.Agents", "is empty; name at least one agent"}
	}
	for i, name := range c.Agents {
		if err := validName(fmt.Sprintf("Claim.Agents[%d]", i), name, true); err != nil {
			return err
		}
	}
	if c.PerGroup < 0 {
		return &InvalidError{"Claim.PerGroup", fmt.Sprintf("is %d; it must be 0 or more", c.PerGroup)}
	}
	for i, l := range c.Full {
		field := fmt.Sprintf("Claim.Full[%d]", i)
		if err := cmp.Or(validText(field+".Key", l.Key, false, MaxLabelKey),
			validText(field+".Value", l.Value, false, MaxLabelValue)); err != nil {
			return err
		}
	}
	return typed(validName("Claim.After", c.After, true))
}

func (p *Place) validate() *InvalidError {
	if p == nil {
		return nil
	}
	return cmp.Or(validName(".Agent", p.Agent, true), validName(".Group", p.Group, true))
}
