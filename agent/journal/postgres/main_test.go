package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

// roleVar makes the test binary play another process: one that appends.
const roleVar = "PAWL_POSTGRES_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVar); name != "" {
		if err := appendMany(os.Args[1], os.Args[2], name, os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}

// appendMany appends count records to session s, to which others write, each after whatever is the last one. It says when it
// is ready, waits for a line, and says how many conflicts it met.
func appendMany(dsn, schema, name, text string) error {
	ctx := context.Background()
	count, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Schema: schema})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	_, _ = fmt.Scanln()
	conflicts := 0
	for i, after := 0, uint64(0); i < count; {
		err := s.Append(ctx, journal.Append{Session: "s", After: after,
			Records: []journal.Record{{Time: time.Unix(int64(i), 0), Kind: name, V: i, Data: []byte(name)}}})
		var conflict *journal.ConflictError
		if errors.As(err, &conflict) {
			conflicts++
			after = conflict.HaveSeq
			continue
		}
		if err != nil {
			return err
		}
		after++
		i++
	}
	fmt.Println(conflicts)
	return nil
}
