package sqlmemory_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

var roles = roletest.Roles{"count": count, "endless": endless, "many": many}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

func open(tb testing.TB, path string, cfg sqlmemory.Config) *sqlmemory.Store {
	tb.Helper()
	s, err := sqlmemory.Open(path, cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

func file(tb testing.TB) string { return filepath.Join(tb.TempDir(), "memory.db") }

var counter = recall.ID{Tenant: "t", Kind: "k", Key: "counter"}

// increment adds one to the counter by compare and swap, and returns the new count and how often
// another was faster.
func increment(s recall.Store) (n, conflicts int, err error) {
	for {
		e, err := s.Get(context.Background(), counter)
		if err != nil && !errors.Is(err, recall.ErrNotFound) {
			return 0, 0, err
		}
		n, _ = strconv.Atoi(string(e.Value)) // of nothing: 0
		n++
		_, err = s.Put(context.Background(),
			recall.Entry{ID: counter, Version: e.Version, Value: []byte(strconv.Itoa(n))})
		var c *recall.ConflictError
		if !errors.As(err, &c) {
			return n, conflicts, err
		}
		conflicts++
	}
}

// count increments as often as it is told, once it is told to begin.
func count(args []string) error {
	s, err := sqlmemory.Open(args[0], sqlmemory.Config{})
	if err != nil {
		return err
	}
	defer s.Close()
	times, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	roletest.Ready()
	conflicts := 0
	for range times {
		_, c, err := increment(s)
		if err != nil {
			return err
		}
		conflicts += c
	}
	fmt.Println(conflicts)
	return nil
}

// endless increments and says each number once it is kept.
func endless(args []string) error {
	s, err := sqlmemory.Open(args[0], sqlmemory.Config{})
	if err != nil {
		return err
	}
	for {
		n, _, err := increment(s)
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// many puts new entries until the limit stops it, and says how many.
func many(args []string) error {
	s, err := sqlmemory.Open(args[0], sqlmemory.Config{Limits: recall.Limits{Entries: 30}})
	if err != nil {
		return err
	}
	defer s.Close()
	roletest.Ready()
	for n := 0; ; n++ {
		_, err := s.Put(context.Background(),
			recall.Entry{ID: recall.ID{Tenant: "t", Kind: args[1], Key: strconv.Itoa(n)}, Value: []byte("x")})
		var l *recall.LimitError
		if errors.As(err, &l) {
			fmt.Println(n)
			return nil
		}
		if err != nil {
			return err
		}
	}
}
