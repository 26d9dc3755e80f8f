package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// A report from its topic to its publication, with no time between the steps.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "report")
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
	res, err := a.Run(ctx, report.Input("r-1", "lighthouses", ""))
	if len(res.Pending) != 1 {
		fmt.Println(res.Status, err)
		return
	}
	fmt.Println(res.Pending[0].Title)
	res, err = a.Run(ctx, agent.Resume("r-1", agent.Approve(res.Pending[0].ID)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	_, n, err := l.EffectsOf(ctx, "r-1")
	fmt.Println(n, "of", report.Expected(res), "effects", err)
	// Output:
	// Publish “Lighthouses”
	// The report “Lighthouses” is published.
	// 8 of 8 effects <nil>
}
