package journal

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Head describes a session, so that its log needn't be read. It changes in the same transaction
// as the append, lease or post that changes it.
type Head struct {
	Session string `json:"session"`
	// The last [HeadUpdate] of the host set these eight.
	Status string            `json:"status,omitempty"`
	Open   []Open            `json:"open,omitempty"`
	Kind   string            `json:"kind,omitempty"` // which package's log it is; empty: a session of agents
	Title  string            `json:"title,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Parent string            `json:"parent,omitempty"` // whose work this one is; empty: nobody's
	Info   []byte            `json:"info,omitempty"`   // the host's; nil for none
	// Due is the earliest of [HeadUpdate].Due and the times at which something open expires; zero
	// if there is none.
	Due time.Time `json:"due,omitzero"`

	Seq    uint64 `json:"seq"`    // number of the last record, 0 for none
	Pruned uint64 `json:"pruned"` // records up to this number are gone
	Inbox  int    `json:"inbox"`  // items posted and not yet taken

	// Fence is that of the newest lease, 0 if there was none. Owner has that lease until Until, and
	// may keep writing after that as long as no other owner takes a lease. After a release Owner is
	// empty and Until zero.
	Fence uint64    `json:"fence"`
	Owner string    `json:"owner,omitempty"`
	Until time.Time `json:"until,omitzero"`

	// Created is when the session began, and Updated when it began or was last appended to, by the
	// store's clock. Leases, posts and pruning don't change them.
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// An Open is something that a session waits for, such as an approval, as a list across sessions
// shows it. The strings follow the rules of names, see [MaxName].
type Open struct {
	ID    string `json:"id"`
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"`
	// What is the title for people; Title is for logs. It may be empty.
	What string `json:"what,omitempty"`
	// For names who decides, if that isn't a person: see tools.Suspend.
	For     string    `json:"for,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero if it never does; kept as the time of a [Record] is
}

// clone returns a copy of the head that shares nothing with it.
func (h Head) clone() Head {
	h.Open, h.Labels, h.Info = slices.Clone(h.Open), maps.Clone(h.Labels), bytes.Clone(h.Info)
	h.Until = normalize(h.Until)
	return h
}

// A Label is one of the labels of a session.
type Label struct{ Key, Value string }

// A Filter says which heads [Store.Heads] lists. The zero Filter lists all. Strings are compared
// byte by byte.
type Filter struct {
	Prefix string // only sessions whose names begin with it
	Status string // only this status, if not empty
	Owner  string // only this owner, if not empty, even if its lease has ended
	Kind   string // only this kind, if not empty
	NoKind bool   // only sessions without a kind: those of agents
	Parent string // only the children of this one, if it isn't empty
	// NoParent keeps only sessions without a parent.
	NoParent bool
	Label    Label // only sessions that have this label, if its key isn't empty
	// Without leaves out the sessions that have this label, or any with its key if its value is
	// empty; zero: none.
	Without Label
	Open    bool // only sessions with something open
	// Due keeps only sessions whose [Head].Due is then or before, if it isn't zero, and lists them
	// by that, the earliest first, and those of one time by name. It doesn't go with Newest.
	Due   time.Time
	Inbox bool   // only sessions with something in the inbox
	After string // only names after this one: the last name of the previous page
	// Newest lists the sessions by Updated, the newest first, and those of one time by name. The
	// next page is that of Before and After: the Updated and the name of the last head. Before
	// alone keeps what was updated before it. A session that is appended to meanwhile may be
	// missed.
	Newest bool
	Before time.Time // zero: from the newest on; without Newest it is ignored
	Limit  int       // at most this many; all if it is 0 or less
}

// Match reports whether f lists h. It doesn't consider Limit.
func (f Filter) Match(h Head) bool {
	return strings.HasPrefix(h.Session, f.Prefix) &&
		f.follows(h) &&
		(f.Status == "" || h.Status == f.Status) &&
		(f.Owner == "" || h.Owner == f.Owner) &&
		(f.Kind == "" || h.Kind == f.Kind) &&
		(!f.NoKind || h.Kind == "") &&
		(f.Parent == "" || h.Parent == f.Parent) &&
		(!f.NoParent || h.Parent == "") &&
		(f.Label.Key == "" || f.Label.Value != "" && h.Labels[f.Label.Key] == f.Label.Value) &&
		(f.Without.Key == "" || !f.Without.on(h)) &&
		(!f.Open || len(h.Open) > 0) &&
		(f.Due.IsZero() || !h.Due.IsZero() && !h.Due.After(f.Due)) &&
		(!f.Inbox || h.Inbox > 0)
}

// follows reports whether h comes after the page before.
func (f Filter) follows(h Head) bool {
	if !f.Newest {
		return f.After == "" || h.Session > f.After
	}
	return f.Before.IsZero() || h.Updated.Before(f.Before) ||
		h.Updated.Equal(f.Before) && f.After != "" && h.Session > f.After
}

// compare compares two heads by the order in which f lists them.
func (f Filter) compare(x, y Head) int {
	if f.Newest {
		return cmp.Or(y.Updated.Compare(x.Updated), cmp.Compare(x.Session, y.Session))
	}
	if !f.Due.IsZero() {
		return cmp.Or(x.Due.Compare(y.Due), cmp.Compare(x.Session, y.Session))
	}
	return cmp.Compare(x.Session, y.Session)
}

// on reports whether a head has the label, or any with its key if its value is empty.
func (l Label) on(h Head) bool {
	value, has := h.Labels[l.Key]
	return has && (l.Value == "" || l.Value == value)
}

// dueAt returns the earliest of a time and the times at which something open expires, without those
// that are zero.
func dueAt(first time.Time, open []Open) time.Time {
	for i := range open {
		if at := open[i].Expires; first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}
