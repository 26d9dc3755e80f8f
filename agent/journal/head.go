package journal

import (
	"strings"
	"time"
)

// A Head is what can be said of a session without reading its log. It changes in the same transaction as the append, lease or
// post that changes it.
type Head struct {
	Session string `json:"session"`
	Status  string `json:"status,omitempty"` // the host's word, as the last [HeadUpdate] set it
	Open    []Open `json:"open,omitempty"`   // likewise
	Seq     uint64 `json:"seq"`              // number of the last record, 0 for none
	Pruned  uint64 `json:"pruned"`           // records up to this number are gone
	Inbox   int    `json:"inbox"`            // items posted and not yet taken

	// Fence is that of the newest lease, 0 if there never was one. Owner has that lease until Until, and keeps the right to write
	// afterwards while nobody else takes it. After a release Owner is empty and Until zero.
	Fence uint64    `json:"fence"`
	Owner string    `json:"owner,omitempty"`
	Until time.Time `json:"until,omitzero"`

	// Updated is when the session began or was last appended to, by the store's clock. Leases, posts and pruning don't move it.
	Updated time.Time `json:"updated"`
}

// An Open is something that a session waits for, as a list of open matters across sessions shows it. The strings follow the
// rules of names; ID isn't empty.
type Open struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind,omitempty"`
	Title   string    `json:"title,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero if it never does; else kept as a [Record]'s time is
}

// A Filter says which heads [Store.Heads] lists. The zero Filter lists all. What is compared is compared byte by byte.
type Filter struct {
	Prefix string // only sessions whose names begin with it
	Status string // only this status, if not empty
	Owner  string // only this owner, if not empty, whether its lease is still live or not
	Open   bool   // only sessions with something open
	Inbox  bool   // only sessions with something in the inbox
	After  string // only names after this one: the last name of the page before
	Limit  int    // at most so many; all if it is 0 or less
}

// Match reports whether h is among what f asks for, Limit apart.
func (f Filter) Match(h Head) bool {
	return strings.HasPrefix(h.Session, f.Prefix) &&
		(f.After == "" || h.Session > f.After) &&
		(f.Status == "" || h.Status == f.Status) &&
		(f.Owner == "" || h.Owner == f.Owner) &&
		(!f.Open || len(h.Open) > 0) &&
		(!f.Inbox || h.Inbox > 0)
}
