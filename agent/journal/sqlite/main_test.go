package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"append": appendMany, "endless": appendWithoutEnd, "leased": appendLeased,
	"unwritable": appendUnwritable, "take": takeFrom}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// appendMany appends count records to session s of a file that others write to, each after whatever
// is the last one. It begins with the others, and says how many conflicts it met.
func appendMany(args []string) error {
	path, name := args[0], args[1]
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer s.Close()
	roletest.Ready()
	conflicts := 0
	for i, after := 0, uint64(0); i < count; {
		err := s.Append(context.Background(), journal.Append{Session: "s", After: after,
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

// appendWithoutEnd appends to session s and says each number once it is kept.
func appendWithoutEnd(args []string) error {
	d, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	s, err := sqlite.Open(args[0], sqlite.Config{Durability: sqlite.Durability(d)})
	if err != nil {
		return err
	}
	h, err := s.Head(context.Background(), "s")
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return err
	}
	for after := h.Seq; ; {
		a := journal.Append{Session: "s", After: after}
		for n := range 1 + after%3 {
			a.Records = append(a.Records, numbered(after+1+n))
		}
		if after%5 == 0 {
			a.Head = &journal.HeadUpdate{Status: strconv.FormatUint(after+uint64(len(a.Records)), 10)}
		}
		if err := s.Append(context.Background(), a); err != nil {
			return err
		}
		after += uint64(len(a.Records))
		fmt.Println(after)
	}
}

// numbered returns a record that says its number, at a length of its own.
func numbered(n uint64) journal.Record {
	return journal.Record{Time: time.Unix(int64(n), 0), Kind: "kind", V: 1,
		Data: fmt.Appendf(nil, "%0*d", 1+n*37%3000, n)}
}

// appendLeased leases session s and appends until it is told that it is no longer the writer, and
// says how many it has appended.
func appendLeased(args []string) error {
	s, err := sqlite.Open(args[0], sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Lease(context.Background(), "s", "one", time.Millisecond) // soon anybody may take it
	if err != nil {
		return err
	}
	for after := uint64(0); ; after++ {
		err := s.Append(context.Background(),
			journal.Append{Session: "s", After: after, Fence: l.Fence, Records: []journal.Record{numbered(after + 1)}})
		var conflict *journal.ConflictError
		if errors.As(err, &conflict) && conflict.Stale() {
			fmt.Println("stopped", after)
			return nil
		}
		if err != nil {
			return err
		}
		if after == 100 {
			fmt.Println("going")
		}
	}
}
