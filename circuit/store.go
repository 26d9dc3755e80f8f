package circuit

import (
	"context"
	"time"
)

// A Store carries what the sets of several processes know to each other: a table, a bus, a file. [Set.Sync] and [Set.Share]
// call it; calls through a breaker never do, so a store that is slow or fails only delays what the others hear.
//
// A store keeps for each key the record that was published last, and numbers what it is handed in the order of arrival,
// from 1. It may forget a record an hour after its Until, or after its arrival if it has none. Its methods should return
// when ctx ends, and must be safe for concurrent use.
type Store interface {
	// Publish keeps these records, for each key in the place of what there was. After an error some or all may have been
	// kept; the same state is published again, which is harmless.
	Publish(ctx context.Context, records []Record) error

	// Changes returns the last record of each key of those that arrived after the mark, in the order of arrival, and the mark to
	// go on from, the number of the last. Mark 0 is the beginning. A mark that the store never gave, because it lost
	// what it had and began anew, is taken for 0. If there is no record, the mark is that which was handed in, or 0 for such a one.
	Changes(ctx context.Context, after uint64) (records []Record, mark uint64, err error)
}

// A Record says until when the breaker of a key is open.
type Record struct {
	Key    string
	Origin string // of the set that published it: a random text, new for each

	// Until is when the breaker lets probes pass, to be kept to the millisecond at least. Zero means that the breaker
	// has closed.
	Until time.Time
}
