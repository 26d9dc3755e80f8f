package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestManySessionsAreChangedByFlags: without -yes they are only listed.
func TestManySessionsAreChangedByFlags(t *testing.T) {
	d := newDesk(t)
	a := d.agent("clerk", providertest.Script(providertest.Fail(fault.Transient), providertest.Fail(fault.Transient)))
	for _, name := range []string{"a-1", "a-2", "b-1"} {
		in := agent.Input{Session: name, Prompt: "Hi", Labels: map[string]string{"tenant": name[:1]}}
		require.NoError(t, a.Enqueue(t.Context(), in, agent.QueueOptions{}))
	}
	for _, name := range []string{"a-1", "b-1"} { // they fail for good
		_, err := a.Advance(t.Context(), agent.Continue(name), agent.Leg{})
		require.NoError(t, err)
	}
	status := func(session string) agent.Status {
		info, err := a.Session(session).Info(t.Context())
		require.NoError(t, err)
		return info.Status
	}
	require.Equal(t, agent.Failed, status("a-1"))

	out, _ := d.pawl(0, "queue")
	require.Regexp(t, `(?m)^clerk +1 +0 +\S+ ago +2$`, strings.Join(strings.Split(out, "\n")[1:], "\n"))
	out, _ = d.pawl(0, "dead", "-prefix", "a-")
	require.Regexp(t, `(?m)^a-1 +clerk +\S+ ago +0 +\S`, out)
	require.NotContains(t, out, "b-1")

	out, _ = d.pawl(0, "retry", "-status", "failed", "-label", "tenant=a")
	require.Regexp(t, `(?m)^false +a-1 +failed `, out)
	require.NotContains(t, out, "b-1")
	require.Equal(t, agent.Failed, status("a-1"))
	out, _ = d.pawl(0, "retry", "-status", "failed", "-label", "tenant=a", "-yes")
	require.Regexp(t, `(?m)^true +a-1 `, out)
	require.Equal(t, agent.Queued, status("a-1"))
	require.Equal(t, agent.Failed, status("b-1"))

	out, _ = d.pawl(0, "cancel", "-prefix", "a-", "-status", "queued", "-yes", "-json")
	require.Equal(t, 2, strings.Count(out, `"done":true`), out)
	require.Equal(t, []agent.Status{agent.Stopped, agent.Stopped}, []agent.Status{status("a-1"), status("a-2")})
	out, _ = d.pawl(0, "cancel", "-prefix", "a-", "-yes")
	require.NotContains(t, out, "a-", "they have ended")
	out, _ = d.pawl(0, "retry", "-label", "tenant=a")
	require.NotContains(t, out, "a-", "only what has failed")

	out, _ = d.pawl(0, "delete", "-idle", "1h", "-yes")
	require.NotContains(t, out, "a-1", "nothing is so old")
	d.pawl(0, "retry", "b-1")
	_, problem := d.pawl(1, "delete", "b-1")
	require.Contains(t, problem, `session "b-1" is queued; cancel it before it is deleted`)
	out, problem = d.pawl(1, "delete", "-status", "stopped", "-yes")
	require.Equal(t, 2, strings.Count(problem, "the host wasn't told yet how session"), "as retain keeps them")
	require.Equal(t, 2, strings.Count(out, "false "))
	for _, name := range []string{"a-1", "a-2"} {
		_, err := a.Session(name).Deliver(t.Context(), func(context.Context, *agent.Result) error { return nil })
		require.NoError(t, err)
	}
	out, _ = d.pawl(0, "show", "a-1", "-f")
	require.Regexp(t, `Delivered *\n$`, out, "what has ended is not followed, whatever the newest fact")
	d.pawl(0, "delete", "-status", "stopped", "-yes")
	_, problem = d.pawl(1, "delete", "a-1")
	require.Contains(t, problem, `session "a-1" is unknown, so there is nothing to delete`)
	out, _ = d.pawl(0, "sessions")
	require.NotContains(t, out, "a-2")
	require.Contains(t, out, "b-1")
}

// TestASessionIsFollowedToItsEnd: what other processes store is printed as it comes.
func TestASessionIsFollowedToItsEnd(t *testing.T) {
	d := newDesk(t)
	a := d.agent("clerk", asks())
	d.pause(a, "s-1")
	read, write := io.Pipe()
	var follower sync.WaitGroup
	follower.Go(func() {
		run([]string{"show", "s-1", "-f", "-journal", d.path}, write, write)
		write.Close()
	})
	var out bytes.Buffer
	for !strings.Contains(out.String(), "Suspended") { // what is there is printed at once
		buf := make([]byte, 1<<16)
		n, err := read.Read(buf)
		require.NoError(t, err)
		out.Write(buf[:n])
	}
	require.NotContains(t, out.String(), "Decided")
	d.pawl(0, "approve", "s-1")
	_, err := a.Run(t.Context(), agent.Continue("s-1"))
	require.NoError(t, err)
	_, err = out.ReadFrom(read)
	require.NoError(t, err)
	follower.Wait()
	require.Regexp(t, `(?s)Decided .*ToolStarted +publish.*RunEnded +completed`, out.String())
	again, _ := d.pawl(0, "show", "s-1", "-f")
	require.Contains(t, again, "RunEnded", "it has ended, so there is nothing to wait for")
}

func TestAPreviewIsShownToWhoDecides(t *testing.T) {
	d := newDesk(t)
	d.pause(d.agent("clerk", asks()), "s-1")
	out, _ := d.pawl(0, "pending", "-preview")
	for _, want := range []string{`session +s-1`, `what +Publish`, `input +{}`, `risk +`} {
		require.Regexp(t, `(?m)^`+want, out)
	}
}

// TestTheShellCompletesCommandsAndFlags asks bash itself.
func TestTheShellCompletesCommandsAndFlags(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	var script, problem bytes.Buffer
	require.Zero(t, run([]string{"completion", "bash"}, &script, &problem), problem.String())
	for words, want := range map[string]string{"pawl sh": "show\n", "pawl can": "cancel\n", "pawl show -fa": "-facts\n",
		"pawl help exp": "export\n", "pawl cancel -st": "-status\n"} {
		list := strings.Fields(words)
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script.String()+
			"COMP_WORDS=("+words+"); COMP_CWORD="+string(rune('0'+len(list)-1))+
			`; _pawl; printf '%s\n' "${COMPREPLY[@]}"`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, string(out), words)
	}
	script.Reset()
	require.Zero(t, run([]string{"completion", "zsh"}, &script, &problem))
	require.True(t, strings.HasPrefix(script.String(), "autoload -U +X bashcompinit && bashcompinit\n_pawl() {"))
}

// TestNoPasswordIsPrinted: the address of a journal may have one.
func TestNoPasswordIsPrinted(t *testing.T) {
	t.Setenv("PAWL_JOURNAL", "postgres://ann:sekret@host/db")
	for _, args := range [][]string{{"help", "sessions"}, {"sessions", "-nope"}, {"help"}, {"completion", "bash"}} {
		var out bytes.Buffer
		run(args, &out, &out)
		require.NotEmpty(t, out.String())
		require.NotContains(t, out.String(), "sekret", args)
	}
}
