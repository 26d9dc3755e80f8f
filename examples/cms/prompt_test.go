package main

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASignalAtAPromptEndsTheProgramAndPrintsHowToResume(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		b := newBench(t)
		command := "go run ./examples/cms -db " + b.db
		at := func(prompt, typed string) (string, *held) {
			cmd := b.process("", "chat", "-session", "s")
			cmd.Env = append(cmd.Env, typedVar+"="+typed)
			h := b.start(cmd, prompt)
			require.NoError(t, h.Process.Signal(sig))
			rest, err := io.ReadAll(h.out)
			require.NoError(t, err)
			require.Equal(t, exitStopped, h.ended(), h.err.String())
			return string(rest), h
		}
		_, h := at("> ", "")
		require.Equal(t, "To resume this session:\n  "+command+" chat -session s\n", h.err.String())

		for _, typed := range []string{"delete Home\n", ""} { // with "", the decision is asked for at the start
			out, _ := at("[e]dit, [?]: ", typed)
			require.Contains(t, out, "To continue, one of:\n  "+command+" -resume s -id p-")
		}
		out, _ := at("(optional) ", "r\n")
		id := outcome{out: out}.pause(t)
		require.Equal(t, []string{"home"}, b.pages())
		b.must(exitOK, "-resume", "s", "-id", id, "-decide", "approve")
		require.Empty(t, b.pages())
	}
}
