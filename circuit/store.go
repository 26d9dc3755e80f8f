package circuit

import (
	"context"
	"time"
)

// A Store shares the states of breakers among the sets of several processes: a table, a bus, a file. [Set.Sync] and
// [Set.Share] call it; calls through a breaker never do, so a store that is slow or fails only delays the exchange.
//
// A store keeps the last published record of each key, and numbers records in the order of arrival, from 1. It may
// forget a record an hour after its Until, or after its arrival if it has none. Its methods should return when ctx ends,
// and must be safe for concurrent use.
type Store interface {
	// Publish stores these records; each replaces the record of its key. After an error some or all may have been
	// stored; the set then publishes the same state again, which is harmless.
	Publish(ctx context.Context, records []Record) error

	// Changes returns the records that arrived after the mark, only the last one of each key, in the order of arrival. It
	// also returns the mark for the next call, which is the number of the last record. Mark 0 is the beginning. A mark that
	// the store never returned, because it has lost its data, is taken as 0. If there are no records, the returned mark is
	// the one passed in, or 0 if that is unknown.
	Changes(ctx context.Context, after uint64) (records []Record, mark uint64, err error)
}

// A Record says until when the breaker of a key is open.
type Record struct {
	Key    string
	Origin string // of the set that published it: a random text, new for each

	// Until is when the breaker admits probes. A store must keep it at least to the millisecond. Zero means that the
	// breaker has closed.
	Until time.Time
}
