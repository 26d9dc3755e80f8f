package calendar_test

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/calendar"
)

// Clocks in Havana show midnight twice on 1 November 2026: the day begins with the first.
func ExampleMidnight() {
	havana, err := time.LoadLocation("America/Havana")
	if err != nil {
		fmt.Println(err)
	}
	first := calendar.Midnight(2026, time.November, 1, havana)
	next := calendar.Midnight(2026, time.November, 2, havana)
	fmt.Println(first.UTC(), next.Sub(first))
	// Output: 2026-11-01 04:00:00 +0000 UTC 25h0m0s
}
