package day_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

func Example() {
	p := day.NewPlan(day.Config{Seed: 1, Sessions: 10, Hours: 2})
	fmt.Println("from", p.Clock(0), "to", p.Clock(p.Length))
	byTask := make(map[string]int)
	for _, c := range p.Calls {
		byTask[c.Task]++
	}
	fmt.Println(byTask[day.Reindex], "calls in", len(p.Floods), "floods, and", byTask[day.Audit],
		"of a job that runs away")
	fmt.Println("the provider fails at", p.Clock(p.Outage.From), "for", p.Outage.To-p.Outage.From)
	// Output:
	// from 11:00 to 13:00
	// 400 calls in 5 floods, and 60 of a job that runs away
	// the provider fails at 12:19 for 20m0s
}
