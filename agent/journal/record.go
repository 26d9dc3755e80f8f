package journal

import (
	"bytes"
	"maps"
	"slices"
	"time"
)

// A Record is one fact of a session. All of it is opaque to a store.
type Record struct {
	// Seq is the record's number in its session, from 1, without gaps. In an [Append] it is 0 or
	// the number that the record will have. The store sets it when the record is read.
	Seq uint64
	// Time is an instant of the host's choice. A store keeps it to the nanosecond and returns it in
	// UTC without a monotonic reading. It is zero or between the years 1678 and 2262.
	Time time.Time
	// Kind is the host's name for what happened, V the version of that kind's encoding. Kind
	// follows the rules of names, see [MaxName].
	Kind string
	V    int
	// Data are any bytes, at most [MaxRecord] of them. Nil and empty are the same.
	Data []byte
	// Value is what Data would encode, for a writer and a reader in the same process. A [MapStore]
	// returns it as it was appended, and doesn't copy it, so what it refers to must not be changed.
	// Every other store ignores it, so what has to outlive the process must be in Data.
	Value any
}

// Equal reports whether r and o have the same content: time (as an instant), kind, version and
// data. Seq and Value aren't compared.
func (r Record) Equal(o Record) bool {
	return r.V == o.V && r.Kind == o.Kind && r.Time.Equal(o.Time) && bytes.Equal(r.Data, o.Data)
}

// An Append changes the records, the head and the inbox of one session together: all of it is
// stored, or nothing.
//
// At least one of Records, Head and Taken is set.
type Append struct {
	// Session names the session; the first append to a name begins it.
	Session string
	// After is the number of the session's last record as the writer knows it, 0 for none. If it
	// isn't the number of the last record, another writer has appended, and the append is refused.
	After uint64
	// Fence is that of the writer's [Lease], or 0 if the session was never leased.
	Fence uint64
	// Records get the numbers from After+1 on, in this order.
	Records []Record
	// Head replaces the part of the session's [Head] that the host sets. Nil leaves it as it is.
	Head *HeadUpdate
	// Taken has the ids of the inbox items that these records deal with. The append removes them
	// from the inbox and closes their ids: a later [Store.Post] with one of them is refused. An id
	// that was never posted is closed, too, so a decision that came another way excludes later
	// ones.
	Taken []string
	// Quiet has the append refused with [ErrInbox] if anything is in the inbox. A writer that
	// appends so needn't look into the inbox before: if the append is stored, nothing was there. A
	// store that ignores Quiet has its sessions miss what is sent to them: a run would notice a
	// decision, a message or a cancellation only when it waits or is about to complete.
	Quiet bool
}

// A HeadUpdate is the part of a [Head] that the host sets with an [Append]. It replaces all of it:
// a field that is empty here is empty afterwards.
type HeadUpdate struct {
	Status string `json:"status"`
	Open   []Open `json:"open,omitempty"`
	// Kind says which package's log this is, by the rules of names. It is empty for a session of
	// agents, which leave all other kinds alone. So packages can keep logs of their own in one
	// store.
	Kind string `json:"kind,omitempty"`
	// Title is for people: at most [MaxTitle] bytes of valid UTF-8 without control characters.
	Title string `json:"title,omitempty"`
	// Labels are for [Filter].Label: at most [MaxLabels], with keys of at most [MaxLabelKey] and
	// values of at most [MaxLabelValue] bytes. Keys and values aren't empty, and are valid UTF-8
	// without control characters.
	Labels map[string]string `json:"labels,omitempty"`
	// Parent is the session (or the log of another package) whose work this one is, by the rules of
	// names; empty if it is nobody's. The store needn't have a session of that name.
	// [Filter].Parent finds the children of a session.
	Parent string `json:"parent,omitempty"`
	// Info is what lists of the host show besides: any bytes, at most [MaxInfo] of them. Nil and
	// empty are the same.
	Info []byte `json:"info,omitempty"`
	// Due is when the session has work for whoever finds it by [Filter].Due, if that isn't only
	// when something open expires; zero: then.
	Due time.Time `json:"due,omitzero"`
	// Queue is the session's place in the queue of a [Queue]; nil: it isn't in it. Other stores
	// ignore it.
	Queue *Place `json:"queue,omitempty"`
}

// Set replaces the part of the head that the host sets, with copies.
func (h *Head) Set(u *HeadUpdate) {
	h.Status, h.Open, h.Kind, h.Title, h.Labels = u.Status, slices.Clone(u.Open), u.Kind, u.Title, maps.Clone(u.Labels)
	h.Parent, h.Info = u.Parent, nil
	if len(u.Info) > 0 {
		h.Info = bytes.Clone(u.Info)
	}
	for i := range h.Open {
		h.Open[i].Expires = normalize(h.Open[i].Expires)
	}
	h.Due = dueAt(normalize(u.Due), h.Open)
}

// An Item is what another process or goroutine asks of a session's writer: a decision, a message, a
// cancellation.
type Item struct {
	// ID is unique in its session as long as the session exists, also after the item was taken. If
	// the first answer to a question has to win, derive the ID from the question's id.
	ID string
	// Kind is the host's name for what is asked. It follows the rules of names.
	Kind string
	// Time and Data are kept as a [Record]'s are.
	Time time.Time
	Data []byte
	// Closes names further ids that the item uses up: [Store.Post] refuses the item if one of them
	// was used before, and closes them to later posts, as [Append].Taken does. It is for an item
	// that answers several questions at once. It has at most [MaxCloses] ids, each of them once and
	// none of them ID. [Store.Take] doesn't return it.
	Closes []string
}

// A Lease is the right to write to a session until another owner takes it.
type Lease struct {
	Session string
	Owner   string
	// Fence is the fencing token for [Append] and [Store.Take]. It is above 0, and above every
	// earlier fence of that session name, also of a session of that name that was deleted.
	Fence uint64
	// Until is when another owner may take the lease, by the store's clock. The time decides only
	// who may take a lease. The fence decides who may write, so clocks that differ can cause
	// waiting, but never damage a log.
	Until time.Time
}
