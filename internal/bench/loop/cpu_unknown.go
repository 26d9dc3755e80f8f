//go:build !unix

package loop

import "time"

// cpuTime returns nothing: shares of CPU time are NaN on this system.
func cpuTime() time.Duration { return 0 }
