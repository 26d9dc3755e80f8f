package sqlitefile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

func Example() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	abs, err := sqlitefile.Make(filepath.Join(dir, "pages.db"), "for pages in memory take a map")
	if err != nil {
		fmt.Println("pages:", err)
		return
	}
	pool, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 2, LogLimit: 8 << 20})
	if err != nil {
		fmt.Println("pages:", err)
		return
	}
	defer pool.Close()
	ctx := context.Background()
	fmt.Println(sqlitefile.WAL(ctx, pool, time.Second))
	err = sqlitefile.Retry(ctx, time.Second, func() error {
		_, err := pool.ExecContext(ctx, "CREATE TABLE pages (name TEXT)")
		return err
	})
	fmt.Println(err)
	_, err = sqlitefile.Make(":memory:", "for pages in memory take a map")
	fmt.Println("pages:", err)
	// Output:
	// <nil>
	// <nil>
	// pages: path ":memory:" isn't a file; for pages in memory take a map
}
