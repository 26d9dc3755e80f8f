package recall

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An ID identifies an entry. All fields are opaque to a [Store]: it compares them byte by byte and
// derives nothing from them.
type ID struct {
	Tenant string // see [Scope]; 1 to 256 bytes; set by the host, never by a model
	Kind   string // 1 to 512 bytes
	Key    string // 1 to 256 bytes
}

// Check returns an error of class fault.Invalid if a part of the id is empty, too long, not valid
// UTF-8 or contains a NUL.
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
		return fault.Errorf(fault.Invalid, "recall: the %s must be valid UTF-8 of 1 to %d bytes without NUL, not %.40q",
			what, most, s)
	}
	return nil
}

// An Entry is an entry of a [Store].
type Entry struct {
	ID
	// Version is for optimistic concurrency. It is positive, and unique among all states of all
	// entries of the tenant, including deleted ones.
	Version int64
	Value   []byte // opaque
}

// Size returns the size that counts towards [Limits].Bytes: the bytes of kind, key and value.
func (e *Entry) Size() int64 { return int64(len(e.Kind) + len(e.Key) + len(e.Value)) }

// A Store stores entries by tenant, kind and key. It is safe for concurrent use, and enforces
// [Limits] per tenant. Package recalltest tests this contract.
type Store interface {
	// Get returns an entry, or an error of class fault.NotFound ([ErrNotFound]).
	Get(ctx context.Context, id ID) (Entry, error)
	// Put stores e.Value if the stored entry has the version e.Version (0: there is none), and
	// returns the new version. Otherwise it changes nothing and returns a [*ConflictError]; above a
	// limit it changes nothing and returns a [*LimitError]. The store copies e.Value.
	Put(ctx context.Context, e Entry) (int64, error)
	// List returns the entries of a tenant and a kind, ordered by the bytes of their keys; for an
	// empty kind all entries of the tenant, ordered by kind and key. The caller owns the result.
	List(ctx context.Context, tenant, kind string) ([]Entry, error)
	// Delete removes an entry if it has that version (0: any). Otherwise it returns a
	// [*ConflictError], or [ErrNotFound] if there is none.
	Delete(ctx context.Context, id ID, version int64) error
}

// ErrNotFound means that a store has no such entry. Its class is fault.NotFound.
var ErrNotFound = fault.New(fault.NotFound, "recall: there is no such entry")

// A ConflictError means that an entry doesn't have the version that the writer named. Nothing was
// changed.
type ConflictError struct {
	ID   ID
	Want int64 // the version that the writer named
	Have int64 // the version that is stored; 0: none
}

// Error names the entry's key and both versions.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("recall: %s %q has version %d, not %d; read it again", e.ID.Kind, e.ID.Key, e.Have, e.Want)
}

// Fault returns Invalid: the writer must read the entry again.
func (e *ConflictError) Fault() fault.Class { return fault.Invalid }

// Limits limit the memory of one tenant. A value of 0 or less means the default.
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

// A Use is the memory that a tenant uses.
type Use struct {
	Entries int
	Bytes   int64
}

// After returns the use after e has replaced an entry of size had (-1: e is new), or a
// [*LimitError]. If limits were lowered below the current use, only changes that increase it are
// rejected.
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

// A LimitError means that a limit would be exceeded. Nothing was changed.
type LimitError struct {
	What          string // "bytes of an entry", "entries" or "bytes"
	Limit, Wanted int64
}

// Error says what helps.
func (e *LimitError) Error() string {
	help := "delete what is no longer needed, then try again"
	if e.What == "bytes of an entry" {
		help = "make it shorter"
	}
	return fmt.Sprintf("recall: the memory is limited to %d %s, and this would make %d; %s", e.Limit, e.What, e.Wanted,
		help)
}

// Fault returns Invalid: a model can correct it.
func (e *LimitError) Fault() fault.Class { return fault.Invalid }
