package ratelimit

// Priorities of background requests: higher ones go first. Any figure from 1 to 255 will do; these are the ones in use.
const (
	Planning   = 80 // decides what others do next
	Execution  = 60 // does it; what 0 stands for
	Validation = 40 // looks at what was done
	Background = 20 // can always wait: indexing, summaries
)

const (
	lowest  = 1
	highest = 255
)

// rank brings a priority into the range.
func rank(priority int) uint8 {
	if priority == 0 {
		return Execution
	}
	return uint8(min(max(priority, lowest), highest))
}
