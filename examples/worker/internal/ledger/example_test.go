package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	l, err := ledger.Open(ctx, filepath.Join(dir, "example.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()

	call := ledger.Call{ID: "c-1", Session: "s-1", Tool: "publish", Worker: 1}
	for range 2 { // the first process was killed before the effect
		attempt, err := l.Begin(ctx, call)
		fmt.Println("attempt", attempt, err)
	}
	fmt.Println(l.Effect(ctx, call, 2))
	fmt.Println(l.Done(ctx, "c-1"))
	total, err := l.Totals(ctx)
	fmt.Println(total.Effects, "effect,", total.Repeated, "repeated", err)
	fmt.Println(l.Effect(ctx, call, 3))
	total, err = l.Totals(ctx)
	fmt.Println(total.Effects, "effects,", total.Repeated, "repeated", err)
	// Output:
	// attempt 1 <nil>
	// attempt 2 <nil>
	// <nil>
	// true <nil>
	// 1 effect, 0 repeated <nil>
	// <nil>
	// 2 effects, 1 repeated <nil>
}
