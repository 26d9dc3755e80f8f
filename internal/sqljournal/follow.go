package sqljournal

import "github.com/pawlkit/pawl/agent/journal"

// ChangesAtOnce is the most changes that a [journal.Follower] returns at once.
const ChangesAtOnce = 200

// ErrCursor is its error for what isn't a cursor of the store.
var ErrCursor error = &journal.InvalidError{Field: "cursor", Problem: "isn't one of this store; give one that Changes " +
	"of the store has returned, or an empty one to begin with the oldest change"}
