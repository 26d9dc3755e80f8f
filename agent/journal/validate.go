package journal

import (
	"cmp"
	"fmt"
	"math"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxName is the most bytes that a name has: of a session, a parent, an owner, a kind, an id, a
	// status or a title. Names are valid UTF-8 without control characters. A status, a parent, and
	// the kind and title of an [Open], may be empty; the others may not.
	MaxName = 512
	// MaxRecord is the most bytes that Data of a [Record] or an [Item] has: 64 MiB.
	MaxRecord = 64 << 20
	// MaxOpen is the most entries that [HeadUpdate].Open has. If a session has more, the host shows
	// some of them; all are in its log.
	MaxOpen = 1000
	// MaxCloses is the most entries that [Item].Closes has.
	MaxCloses = 10_000
	// MaxTitle is the most bytes that [HeadUpdate].Title has.
	MaxTitle = 200
	// MaxLabels is how many labels a [HeadUpdate] has at most.
	MaxLabels = 40
	// MaxLabelKey is the most bytes that the key of a label has.
	MaxLabelKey = 64
	// MaxLabelValue is the most bytes that the value of a label has.
	MaxLabelValue = 256
	// MaxInfo is the most bytes that [HeadUpdate].Info has.
	MaxInfo = 256
	// MaxTTL is the longest lease. After a crash no other process can write until the lease ends.
	MaxTTL = 24 * time.Hour
)

// Validate returns an [*InvalidError] if a is invalid, whatever the store holds. Stores call it
// first.
func (a Append) Validate() error {
	if err := validName("Append.Session", a.Session, false); err != nil {
		return err
	}
	switch {
	case len(a.Records) == 0 && a.Head == nil && len(a.Taken) == 0:
		return &InvalidError{"Append", "is empty; it needs Records, Head or Taken"}
	case a.After > math.MaxInt64-uint64(len(a.Records)):
		return &InvalidError{"Append.After", "is too large; numbers end at 1<<63-1"}
	case a.Fence > math.MaxInt64:
		return &InvalidError{"Append.Fence", "is too large; fences end at 1<<63-1"}
	}
	for i := range a.Records {
		r := &a.Records[i]
		if err := validContent(r.Kind, r.Time, r.Data); err != nil {
			return err.in(fmt.Sprintf("Append.Records[%d]", i))
		}
		if want := a.After + 1 + uint64(i); r.Seq != 0 && r.Seq != want {
			return &InvalidError{fmt.Sprintf("Append.Records[%d].Seq", i),
				fmt.Sprintf("is %d; it must be 0 or %d", r.Seq, want)}
		}
	}
	for i, id := range a.Taken {
		if err := validName("", id, false); err != nil {
			return err.in(fmt.Sprintf("Append.Taken[%d]", i))
		}
	}
	if a.Head == nil {
		return nil
	}
	return typed(a.Head.validate().in("Append.Head"))
}

// Validate returns an [*InvalidError] if no append can have that head.
func (h *HeadUpdate) Validate() error {
	return typed(h.validate().in("HeadUpdate"))
}

func (h *HeadUpdate) validate() *InvalidError {
	var info *InvalidError
	if len(h.Info) > MaxInfo {
		info = tooMany(".Info", len(h.Info), MaxInfo, "bytes")
	}
	return cmp.Or(validName(".Status", h.Status, true), validName(".Kind", h.Kind, true),
		validName(".Parent", h.Parent, true), validText(".Title", h.Title, true, MaxTitle), validLabels(h.Labels), info,
		validOpen(h.Open), validTime(".Due", h.Due), h.Queue.validate().in(".Queue"))
}

func tooMany(field string, n, most int, what string) *InvalidError {
	return &InvalidError{field, fmt.Sprintf("has %d %s; %d are allowed", n, what, most)}
}

func validLabels(labels map[string]string) *InvalidError {
	if len(labels) > MaxLabels {
		return tooMany(".Labels", len(labels), MaxLabels, "labels")
	}
	for key, value := range labels {
		if err := cmp.Or(validText(": the key", key, false, MaxLabelKey),
			validText(fmt.Sprintf("[%q]", key), value, false, MaxLabelValue)); err != nil {
			return err.in(".Labels")
		}
	}
	return nil
}

func validOpen(list []Open) *InvalidError {
	if len(list) > MaxOpen {
		return tooMany(".Open", len(list), MaxOpen, "entries")
	}
	for i, o := range list {
		if err := cmp.Or(validName(".ID", o.ID, false), validName(".Kind", o.Kind, true),
			validName(".Title", o.Title, true), validName(".What", o.What, true), validName(".For", o.For, true),
			validTime(".Expires", o.Expires)); err != nil {
			return err.in(fmt.Sprintf(".Open[%d]", i))
		}
	}
	return nil
}

// Validate returns an [*InvalidError] if it is invalid, whatever the store holds.
func (it Item) Validate() error {
	err := cmp.Or(validName(".ID", it.ID, false), validContent(it.Kind, it.Time, it.Data), it.validCloses())
	return typed(err.in("Item"))
}

func (it Item) validCloses() *InvalidError {
	if len(it.Closes) > MaxCloses {
		return tooMany(".Closes", len(it.Closes), MaxCloses, "entries")
	}
	seen := map[string]bool{it.ID: true}
	for i, id := range it.Closes {
		field := fmt.Sprintf(".Closes[%d]", i)
		if err := validName(field, id, false); err != nil {
			return err
		}
		if seen[id] {
			return &InvalidError{field,
				fmt.Sprintf("is %q again; an id is named once, and the item's own ID not at all", id)}
		}
		seen[id] = true
	}
	return nil
}

// ValidateSession returns an [*InvalidError] if no session can have that name.
func ValidateSession(name string) error {
	return typed(validName("session", name, false))
}

// ValidateLease returns an [*InvalidError] if these can't be arguments of [Store.Lease].
func ValidateLease(session, owner string, ttl time.Duration) error {
	if err := cmp.Or(validName("session", session, false), validName("owner", owner, false)); err != nil {
		return err
	}
	if ttl <= 0 || ttl > MaxTTL {
		return &InvalidError{"ttl", fmt.Sprintf("is %v; it must be above 0 and at most %v", ttl, MaxTTL)}
	}
	return nil
}

// ValidateRenew returns an [*InvalidError] if no store returns a lease like l, or if it can't be
// renewed for ttl.
func ValidateRenew(l Lease, ttl time.Duration) error {
	if l.Fence == 0 || l.Fence > math.MaxInt64 {
		return &InvalidError{"Lease.Fence", fmt.Sprintf("is %d; leases have fences from 1 to 1<<63-1", l.Fence)}
	}
	return ValidateLease(l.Session, l.Owner, ttl)
}

// in says where the field is; nil stays nil.
func (e *InvalidError) in(where string) *InvalidError {
	if e == nil {
		return nil
	}
	return &InvalidError{where + e.Field, e.Problem}
}

// typed returns nil for a nil e.
func typed(e *InvalidError) error {
	if e == nil {
		return nil
	}
	return e
}

func validContent(kind string, t time.Time, data []byte) *InvalidError {
	var size *InvalidError
	if len(data) > MaxRecord {
		size = tooMany(".Data", len(data), MaxRecord, "bytes")
	}
	return cmp.Or(validName(".Kind", kind, false), validTime(".Time", t), size)
}

// validTime allows what fits into 64 bits of nanoseconds around 1970, the narrowest form in which a
// store keeps times.
func validTime(field string, t time.Time) *InvalidError {
	const maxSeconds = math.MaxInt64 / int64(time.Second)
	if s := t.Unix(); (s < -maxSeconds || s >= maxSeconds) && !t.IsZero() {
		return &InvalidError{field,
			fmt.Sprintf("is in the year %d; it must be zero or between 1678 and 2262", t.Year())}
	}
	return nil
}

func validName(field, name string, mayBeEmpty bool) *InvalidError {
	return validText(field, name, mayBeEmpty, MaxName)
}

func validText(field, name string, mayBeEmpty bool, most int) *InvalidError {
	if name == "" && !mayBeEmpty {
		return &InvalidError{field, "is empty"}
	}
	if len(name) > most {
		return tooMany(field, len(name), most, "bytes")
	}
	if !utf8.ValidString(name) {
		return &InvalidError{field, "isn't valid UTF-8"}
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return &InvalidError{field, fmt.Sprintf("contains the control character %U", r)}
		}
	}
	return nil
}
