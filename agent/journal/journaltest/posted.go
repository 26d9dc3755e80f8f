package journaltest

import (
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// postedWithin is how long the checks wait for a store that says what is posted.
const postedWithin = 10 * time.Second

// postedChecks are those of a [journal.Notifier]; other stores pass them.
var postedChecks = []check{
	{"a post is said to each who waits for its session", func(f *fixture) {
		s, ok := f.store.(journal.Notifier)
		if !ok {
			return
		}
		f.append(journal.Append{Session: "s", Records: recs(1, 1)})
		var waiting []<-chan struct{}
		for range 2 {
			posted, stop := s.Posted("s")
			defer stop()
			waiting = append(waiting, posted)
		}
		gone, stop := s.Posted("s")
		stop()
		for _, id := range []string{"a", "b"} {
			for _, posted := range waiting { // what may have been said of before
				select {
				case <-posted:
				default:
				}
			}
			f.post("s", item(id))
			for _, posted := range waiting {
				select {
				case <-posted:
				case <-time.After(postedWithin):
					f.t.Fatalf("the post of %q wasn't said within %v", id, postedWithin)
				}
			}
		}
		select {
		case <-gone:
			f.t.Fatalf("who has left is told, too")
		default:
		}
	}},
}
