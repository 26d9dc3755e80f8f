package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An ID says where an entry is. All three are opaque to a [Store]: it compares them byte by byte and derives nothing from them.
type ID struct {
	Tenant string // whose it is, 1 to 256 bytes; the host's, never a model's
	Kind   string // 1 to 512 bytes
	Key    string // 1 to 256 bytes
}

// Check returns an error of class fault.Invalid if a part of the id is empty, too long, no valid UTF-8 or holds a NUL.
func (id ID) Check() error {
	if err := checkName("tenant", id.Tenant, 256); err != nil {
		return err
	}
	if err := checkName("kind", id.Kind, 512); err != nil {
		return err
	}
	return checkName("key", id.Key, 256)
}

func checkName(what, s string, most int) error {
	if s == "" || len(s) > most || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return fault.Errorf(fault.Invalid, "recall: the %s must be valid UTF-8 of 1 to %d bytes without NUL, not %.40q", what, most, s)
	}
	return nil
}

// An Entry is what a [Store] keeps.
type Entry struct {
	ID
	// Version is what optimistic concurrency goes by. It is above 0, and no other state of any entry of the tenant ever had
	// it or will: not the entry before, and not one that is put after a Delete.
	Version int64
	Value   []byte // opaque
}

// Size returns what the entry counts towards [Limits].Bytes: the bytes of kind, key and value.
func (e *Entry) Size() int64 { return int64(len(e.Kind) + len(e.Key) + len(e.Value)) }

// A Store keeps entries by tenant, kind and key. It is safe for concurrent use, and holds [Limits] per tenant. Package
// recalltest proves what is said here.
type Store interface {
	// Get returns an entry, or an error of class fault.NotFound ([ErrNotFound]).
	Get(ctx context.Context, id ID) (Entry, error)
	// Put keeps e.Value if what is stored has the version e.Version (0: nothing is stored), and returns the new version.
	// Else it changes nothing and returns a [*ConflictError]; beyond a limit it changes nothing and returns a
	// [*LimitError]. The store doesn't keep e.Value itself.
	Put(ctx context.Context, e Entry) (int64, error)
	// List returns the entries of a tenant and a kind in the order of their keys' bytes; of an empty kind all that the tenant
	// has, in the order of kind and key. What it returns is the caller's.
	List(ctx context.Context, tenant, kind string) ([]Entry, error)
	// Delete removes an entry if it has that version (0: whichever it has). Else it returns a [*ConflictError], or
	// [ErrNotFound] if there is none.
	Delete(ctx context.Context, id ID, version int64) error
}

// ErrNotFound says that a store has no such entry. It is of class fault.NotFound.
var ErrNotFound = fault.New(fault.NotFound, "recall: there is no such entry")

// A ConflictError says that an entry isn't as its writer thought. Nothing was changed.
type ConflictError struct {
	ID   ID
	Want int64 // the version that the writer named
	Have int64 // the version that is stored; 0: none
}

// Error names the entry's key and both versions.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("recall: %s %q has version %d, not %d; read it again", e.ID.Kind, e.ID.Key, e.Have, e.Want)
}

// Fault returns Invalid: who read an older state must read again.
func (e *ConflictError) Fault() fault.Class { return fault.Invalid }

// Limits bound what one tenant may keep. A figure of 0 or less means the default.
type Limits struct {
	Entries    int   // 1,000 by default
	Bytes      int64 // by [Entry.Size], in all; 4 MiB by default
	EntryBytes int64 // by [Entry.Size], of one; 16 KiB by default
}

// OrDefault returns the limits with the defaults filled in.
func (l Limits) OrDefault() Limits {
	if l.Entries <= 0 {
		l.Entries = 1_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 4 << 20
	}
	if l.EntryBytes <= 0 {
		l.EntryBytes = 16 << 10
	}
	return l
}

// A Use is what a tenant keeps.
type Use struct {
	Entries int
	Bytes   int64
}

// After returns what a tenant keeps once e has replaced an entry of size had (-1: e is new), or a [*LimitError]. Limits that
// were lowered below what is kept refuse only what makes it more.
func (l Limits) After(u Use, e *Entry, had int64) (Use, error) {
	l = l.OrDefault()
	size := e.Size()
	next := Use{Entries: u.Entries, Bytes: u.Bytes + size - max(had, 0)}
	if had < 0 {
		next.Entries++
	}
	switch {
	case size > l.EntryBytes && size > had:
		return u, &LimitError{What: "bytes of an entry", Limit: l.EntryBytes, Wanted: size}
	case next.Entries > l.Entries && next.Entries > u.Entries:
		return u, &LimitError{What: "entries", Limit: int64(l.Entries), Wanted: int64(next.Entries)}
	case next.Bytes > l.Bytes && next.Bytes > u.Bytes:
		return u, &LimitError{What: "bytes", Limit: l.Bytes, Wanted: next.Bytes}
	}
	return next, nil
}

// A LimitError says that what was to be kept is too much. Nothing was changed.
type LimitError struct {
	What          string // "bytes of an entry", "entries" or "bytes"
	Limit, Wanted int64
}

// Error says what would help.
func (e *LimitError) Error() string {
	help := "delete what is no longer needed, then try again"
	if e.What == "bytes of an entry" {
		help = "make it shorter"
	}
	return fmt.Sprintf("recall: the memory may hold %d %s, and this would make %d; %s", e.Limit, e.What, e.Wanted, help)
}

// Fault returns Invalid: a model can put it right.
func (e *LimitError) Fault() fault.Class { return fault.Invalid }
