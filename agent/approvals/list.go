package approvals

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// An Open is an open item in a list.
type Open struct {
	Session string          `json:"session"`
	ID      string          `json:"id"`
	Kind    agent.PauseKind `json:"kind"`
	Tool    string          `json:"tool"`
	// Title says in a few words what is to be decided, as agent.Pause has it.
	Title string `json:"title,omitempty"`
	// Reason says why a decision is needed. Reason and the tool's name together are cut at
	// journal.MaxName bytes; Detail has the full text.
	Reason string `json:"reason,omitempty"`
	// For names who decides, if that isn't a person: see tools.Suspend.
	For     string    `json:"for,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Expired bool      `json:"expired,omitempty"`
	// Updated is when the session's log was last appended to.
	Updated time.Time `json:"updated,omitzero"`
	// Sent says that the session's inbox has an item that it hasn't read yet: perhaps the decision
	// on this.
	Sent bool `json:"sent,omitempty"`
}

// A Filter says which items [List] yields. The zero Filter keeps all that people decide.
type Filter struct {
	Prefix string          // of the session's name
	Kind   agent.PauseKind // if it isn't empty
	Tool   string          // if it isn't empty
	// For keeps what that one is to answer, such as an agent: see tools.Suspend. Empty keeps what
	// people decide. Everyone keeps both, and ignores For.
	For      string
	Everyone bool
	// Before keeps items that expire before that time, including expired ones.
	Before time.Time
	// Plans keeps runs of plans (agent/plan) in the list, too. Their items have the tool "plan".
	Plans bool
	// After starts the list after that session: the last one of the previous page.
	After string
}

// List yields the open items of all sessions of a store: in the order of session names, and within
// a session in the order of its calls. It reads no log, except of sessions that have more open
// items than a head shows ([journal.MaxOpen]). Sessions with a parent, such as those of subagents,
// are left out, since their items are listed with the parent's, and so are the logs of other
// packages, except for those of plans if Filter.Plans says so. To continue later, set Filter.After
// to the last session whose items were all read.
//
// If the log of such a session can't be read, List yields an error with Open.Session, and then the
// items that its head shows. If the head of a session can't be read, List yields an error with
// Open.Session, too. The sequence goes on after that. It ends after an error of the store's list of
// sessions, which has no Open.Session; so has that of a nil store. Concurrent changes may be
// missed.
func List(ctx context.Context, store journal.Store, f Filter) iter.Seq2[Open, error] {
	return func(yield func(Open, error) bool) {
		if store == nil {
			yield(Open{}, errNoStore)
			return
		}
		store := contain.Store(store, contain.Abandoned{})
		hf := journal.Filter{Prefix: f.Prefix, Open: true, NoKind: !f.Plans, NoParent: true, After: f.After}
		for h, err := range store.Heads(ctx, hf) {
			if err != nil {
				err = fmt.Errorf("approvals: listing what is open: %w", err)
				if !yield(Open{Session: h.Session}, err) || h.Session == "" {
					return
				}
			}
			if h.Kind != "" && h.Kind != headKindPlan {
				continue
			}
			if len(h.Open) >= journal.MaxOpen && h.Kind == "" {
				open, err := allOpen(ctx, store, h.Session)
				if err == nil {
					h.Open = open
				} else if !yield(Open{Session: h.Session}, err) {
					return
				}
			}
			now := time.Now()
			for i := range h.Open {
				if o := opened(&h, &h.Open[i], now); f.keeps(&o) && !yield(o, nil) {
					return
				}
			}
		}
	}
}

// headKindPlan is the kind of the logs of runs of plans.
const headKindPlan = "plan"

// errNoStore is the error of a nil store.
var errNoStore = fault.New(fault.Invalid, "approvals: the store is nil; give the journal of the agents")

// allOpen returns what a session waits for, from its log, in the form of a head.
func allOpen(ctx context.Context, store journal.Store, session string) ([]journal.Open, error) {
	l, err := read(ctx, store, session)
	if err != nil {
		return nil, err
	}
	if r := l.state.Run; r.IsOpen() {
		return machine.OpenPauses(r), nil
	}
	return nil, nil // it has ended meanwhile
}

func (f *Filter) keeps(o *Open) bool {
	return (f.Everyone || f.For == o.For) && (f.Kind == "" || f.Kind == o.Kind) && (f.Tool == "" || f.Tool == o.Tool) &&
		(f.Before.IsZero() || !o.Expires.IsZero() && o.Expires.Before(f.Before))
}

func opened(h *journal.Head, o *journal.Open, now time.Time) Open {
	tool, reason, _ := strings.Cut(o.Title, ": ")
	tool = strings.TrimSuffix(tool, ":")
	return Open{
		Session: h.Session, ID: o.ID, Kind: agent.PauseKind(o.Kind), Tool: tool,
		Title: cmp.Or(o.What, tools.TitleOf(tool, nil)), Reason: reason, For: o.For,
		Expires: o.Expires, Expired: !o.Expires.IsZero() && !now.Before(o.Expires),
		Updated: h.Updated, Sent: h.Inbox > 0,
	}
}
