package sqlmemory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

// roleVar makes the test binary play another process, with what follows as arguments.
const roleVar = "PAWL_SQLMEMORY_ROLE"

var roles = map[string]func(args []string) error{"count": count, "endless": endless, "many": many}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A process is another one that plays a role.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func begin(t *testing.T, role string, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &process{cmd, in, bufio.NewScanner(out)}
}

// line returns the next line that the process says, empty at the end.
func (p *process) line() string {
	p.out.Scan()
	return p.out.Text()
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

// increment adds one to the counter by compare and swap, and returns the new count and how often another was faster.
func increment(s recall.Store) (n, conflicts int, err error) {
	for {
		e, err := s.Get(context.Background(), counter)
		if err != nil && !errors.Is(err, recall.ErrNotFound) {
			return 0, 0, err
		}
		n, _ = strconv.Atoi(string(e.Value)) // of nothing: 0
		n++
		_, err = s.Put(context.Background(), recall.Entry{ID: counter, Version: e.Version, Value: []byte(strconv.Itoa(n))})
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
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
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
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	for n := 0; ; n++ {
		_, err := s.Put(context.Background(), recall.Entry{ID: recall.ID{Tenant: "t", Kind: args[1], Key: strconv.Itoa(n)}, Value: []byte("x")})
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
