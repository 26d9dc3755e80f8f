package journal

import (
	"bytes"
	"time"
)

// A Record is one fact of a session. All of it is opaque to a store.
type Record struct {
	// Seq is the record's number in its session, from 1, without gaps. In an [Append] it is 0, or the very number that the
	// record is going to have; the store sets it on the way out.
	Seq uint64
	// Time is whatever instant the host put there. A store keeps it to the nanosecond and gives it back in UTC without a
	// monotonic reading. It is zero or lies between the years 1678 and 2262.
	Time time.Time
	// Kind is the host's word for what happened, V the version of that kind's encoding. Kind follows the rules of names, see [MaxName].
	Kind string
	V    int
	// Data is any bytes, at most [MaxRecord] of them. Nil and empty are the same.
	Data []byte
}

// Equal reports whether r and o have the same content: time (as an instant), kind, version and data. Seq isn't compared.
func (r Record) Equal(o Record) bool {
	return r.V == o.V && r.Kind == o.Kind && r.Time.Equal(o.Time) && bytes.Equal(r.Data, o.Data)
}

// An Append is one change of one session: records, head and inbox together, all of it or nothing.
//
// At least one of Records, Head and Taken is set.
type Append struct {
	// Session names the session; the first append to a name begins it.
	Session string
	// After is the number of the session's last record as the writer knows it, 0 for none. If that isn't the last one,
	// another has written, and the append is refused.
	After uint64
	// Fence is that of the writer's [Lease], or 0 where nobody has leased the session.
	Fence uint64
	// Records get the numbers after After, in this order.
	Records []Record
	// Head replaces what the session shows of itself. Nil leaves it as it is.
	Head *HeadUpdate
	// Taken names the inbox items whose outcome these records hold. They leave the inbox with this append, and their ids
	// are closed: a later [Store.Post] under one of them is refused. An id that nobody has posted is closed all the same, so a
	// decision that came another way shuts out the ones that come late.
	Taken []string
}

// A HeadUpdate is what an [Append] makes of the part of a [Head] that belongs to the host. It replaces both fields.
type HeadUpdate struct {
	Status string `json:"status"`
	Open   []Open `json:"open,omitempty"`
}

// An Item is something that another process, or another goroutine, asks of a session's writer: a decision, a message, a cancel.
type Item struct {
	// ID is unique in its session for as long as the session exists, also after the item was taken. Where the first answer to a
	// question is to win, it is made from the question's id.
	ID string
	// Kind is the host's word for what is asked; it follows the rules of names.
	Kind string
	// Time and Data are kept as a [Record]'s are.
	Time time.Time
	Data []byte
}

// A Lease is the right to write to a session, until another takes it.
type Lease struct {
	Session string
	Owner   string
	// Fence goes into every [Append] and [Store.Take]. It is above 0, and above every fence given out for that session name before.
	Fence uint64
	// Until is when another may take the lease, by the store's clock. Time decides only who may try: who may write is decided
	// by the fence, so clocks that differ cost patience, never a log.
	Until time.Time
}
