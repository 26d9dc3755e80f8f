package site_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
	"github.com/pawlkit/pawl/examples/worker/internal/site"
)

// A request that is repeated with its key asks for the same report.
func ExampleEnqueue() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "site")
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
	a, err := report.New(report.Config{Ledger: l})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := site.Enqueue(ctx, site.InJournal(a), l, "tides", "request-1")
	fmt.Println(err)
	again, err := site.Enqueue(ctx, site.InJournal(a), l, "tides", "request-1")
	fmt.Println(first == again, errors.Is(err, agent.ErrDuplicate))
	_, lost, open, err := site.Count(ctx, a, l)
	fmt.Println(lost, "lost,", open, "open", err)
	// Output:
	// <nil>
	// true true
	// 0 lost, 1 open <nil>
}
