package due_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/internal/due"
)

func Example() {
	var done sync.WaitGroup
	done.Add(3)
	l := due.New(due.Config{
		Parallel: 1,
		Interval: time.Hour,
		List: func(context.Context) iter.Seq2[due.Item, error] {
			return func(yield func(due.Item, error) bool) {
				_ = yield(due.Item{Session: "report", Since: time.Unix(100, 0)}, nil) &&
					yield(due.Item{Session: "import", Since: time.Unix(50, 0)}, nil) &&
					yield(due.Item{Session: "chat", Since: time.Unix(200, 0), Priority: 1}, nil)
			}
		},
		Drive: func(_ context.Context, session string) error {
			defer done.Done()
			fmt.Println(session)
			return nil
		},
	})
	l.Start(context.Background())
	done.Wait()
	l.Stop()
	// Output:
	// chat
	// import
	// report
}
