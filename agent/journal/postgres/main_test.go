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
	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"append": appendMany, "take": takeFrom, "pay": payFrom}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}

// appendMany appends count records to session s, to which others write, each after whatever is the
// last one. It begins with the others, and says how many conflicts it met.
func appendMany(args []string) error {
	ctx := context.Background()
	dsn, schema, name := args[0], args[1], args[2]
	count, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Schema: schema})
	if err != nil {
		return err
	}
	defer s.Close()
	roletest.Ready()
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
