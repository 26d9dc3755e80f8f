package ratelimit

// Priorities of background requests: higher ones go first. Any figure from 1 to 255 is allowed;
// these are the usual ones.
const (
	Planning   = 80 // plans the work of others
	Execution  = 60 // does the work; the default for 0
	Validation = 40 // checks the work
	Background = 20 // can always wait: indexing, summaries
)

const (
	lowest  = 1
	highest = 255
)

// rank adjusts a priority to the range.
func rank(priority int) uint8 {
	if priority == 0 {
		return Execution
	}
	return uint8(min(max(priority, lowest), highest))
}
