package postgres_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoProcessesOnOneSessionLoseNothing(t *testing.T) {
	const each = 5000 / fewer
	cfg := empty(t)
	type process struct {
		*exec.Cmd
		in  io.WriteCloser
		out *bufio.Scanner
	}
	var writers []process
	for _, name := range []string{"a", "b"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], cfg.DSN, cfg.Schema, strconv.Itoa(each))
		cmd.Env = append(os.Environ(), roleVar+"="+name)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		writers = append(writers, process{cmd, in, bufio.NewScanner(out)})
	}
	for _, w := range writers { // both have made the schema, at once
		require.True(t, w.out.Scan())
		require.Equal(t, "ready", w.out.Text())
	}
	for _, w := range writers {
		_, err := fmt.Fprintln(w.in)
		require.NoError(t, err)
	}
	conflicts := 0
	for _, w := range writers {
		require.True(t, w.out.Scan())
		n, err := strconv.Atoi(w.out.Text())
		require.NoError(t, err)
		conflicts += n
		require.NoError(t, w.Wait())
	}
	require.Positive(t, conflicts, "the two never met")

	next, last := map[string]int{}, uint64(0)
	for r, err := range open(t, cfg).Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, last+1, r.Seq)
		require.Equal(t, next[r.Kind], r.V, "record %d of %s", r.Seq, r.Kind)
		last, next[r.Kind] = r.Seq, next[r.Kind]+1
	}
	require.Equal(t, map[string]int{"a": each, "b": each}, next)
}
