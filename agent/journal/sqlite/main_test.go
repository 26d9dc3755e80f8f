package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
)

// roleVar makes the test binary play another process, with what follows as arguments.
const roleVar = "PAWL_SQLITE_ROLE"

var roles = map[string]func(args []string) error{
	"append": appendMany, "endless": appendWithoutEnd, "leased": appendLeased, "unwritable": appendUnwritable, "narrow": appendNarrow,
}

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

// appendMany appends count records to session s of a file that others write to, each after whatever is the last one. It waits for
// a line before it begins, and says how many conflicts it met.
func appendMany(args []string) error {
	path, name := args[0], args[1]
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	s, err := sqlite.OpenWith(path, sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	if _, err := fmt.Scanln(); err != nil && !errors.Is(err, io.EOF) && err.Error() != "unexpected newline" {
		return err
	}
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
	s, err := sqlite.OpenWith(args[0], sqlite.Config{Durability: sqlite.Durability(d)})
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
	return journal.Record{Time: time.Unix(int64(n), 0), Kind: "kind", V: 1, Data: fmt.Appendf(nil, "%0*d", 1+n*37%3000, n)}
}

// appendLeased leases session s and appends until it is told that it is no longer the writer, and says how many it has appended.
func appendLeased(args []string) error {
	s, err := sqlite.OpenWith(args[0], sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Lease(context.Background(), "s", "one", time.Millisecond) // soon anybody may take it
	if err != nil {
		return err
	}
	for after := uint64(0); ; after++ {
		err := s.Append(context.Background(), journal.Append{Session: "s", After: after, Fence: l.Fence, Records: []journal.Record{numbered(after + 1)}})
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
