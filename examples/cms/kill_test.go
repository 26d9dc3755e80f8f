package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

var kills = flag.Int("kills", 2, "how many processes each test of crashes stops")

// until starts a process and stops it after the given number of lines of output and the given time,
// with SIGKILL or, each third time, with SIGTERM. stopped is false if the process ended before.
func (b *bench) until(cmd *exec.Cmd, lines int, wait time.Duration) (o outcome, stopped bool) {
	t := b.t
	t.Helper()
	var out, stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	r := bufio.NewReader(io.TeeReader(pipe, &out))
	for range lines {
		if _, err = r.ReadString('\n'); err != nil {
			break
		}
	}
	if err == nil {
		<-time.After(wait)
		how := os.Kill
		if runtime.GOOS != "windows" && rand.IntN(3) == 0 {
			how = syscall.SIGTERM // as a deployment ends it
		}
		if err := cmd.Process.Signal(how); !errors.Is(err, os.ErrProcessDone) {
			require.NoError(t, err)
		}
	}
	_, err = io.Copy(io.Discard, r)
	require.NoError(t, err)
	cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	o = outcome{status, out.String(), stderr.String()}
	return o, status < 0 || strings.Contains(o.err, "interrupted")
}

// moment returns when a process is to be stopped; after the last stop, it may run to its end.
func moment(killed int) (lines int, wait time.Duration) {
	switch lines = rand.IntN(12); {
	case killed >= *kills:
		return 1 << 20, 0
	case lines == 0:
		return 0, time.Duration(rand.IntN(400)) * time.Millisecond
	}
	return lines, time.Duration(rand.IntN(15)) * time.Millisecond
}

// done reports whether all that was asked for in a round is there, and requires that nothing of it
// is there twice.
func done(b *bench, round int) (done bool) {
	b.look(func(s *site.Site) {
		count := func(slug string) (n, sections int) {
			pages, err := s.ListPages(b.t.Context(), site.Query{Limit: 200, Text: fmt.Sprintf("%s-%d", slug, round)})
			require.NoError(b.t, err)
			require.LessOrEqual(b.t, pages.Total, 1)
			if pages.Total == 1 {
				sections = pages.Items[0].Sections
			}
			return pages.Total, sections
		}
		entries, err := s.ListEntries(b.t.Context(), site.ListEntries{Collection: "blog",
			Query: site.Query{Limit: 200, Text: fmt.Sprintf("post-%d", round)}})
		require.NoError(b.t, err)
		require.LessOrEqual(b.t, entries.Total, 1)
		pages, sections := count("round")
		last, _ := count("last")
		post, _ := count("post") // the script creates a page, and the plan an entry
		require.LessOrEqual(b.t, sections, 2)
		done = pages+last+post+entries.Total == 3 && sections == 2
	})
	return done
}

func TestCrashesAtRandomMomentsRepeatNoWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := len(b.pages())
	rounds, starts := 0, 0
	for killed := 0; killed < *kills; rounds++ {
		n := 100 + rounds
		session := fmt.Sprint("s-", n)
		asks := []string{"-session", session, "-p", fmt.Sprintf("create a page called Round %[1]d with a hero section "+
			"titled Hello, then add a text section to Round %[1]d saying Hi, then create a page called Post %[1]d, then "+
			"create a page called Last %[1]d", n)}
		for args := asks; ; {
			starts++
			lines, wait := moment(killed)
			o, dead := b.until(b.process("", args...), lines, wait)
			if dead {
				killed++
				b.leaseEnds()
				args = []string{"chat", "-session", session}
				continue
			}
			require.Zero(t, o.status, "%s\n%s", o.out, o.err)
			if done(b, n) {
				break
			}
			require.Empty(t, b.run("", "history", "-session", session).out, "nothing was stored, so nothing goes on")
			args = asks
		}
	}
	require.Len(t, b.pages(), before+3*rounds)
	t.Logf("%d stops in %d starts, %d requests carried out", *kills, starts, rounds)
}

// A plan is approved, and its process is killed again and again while it is carried out.
func TestCrashesInAPlanDoNothingTwiceAndNothingHalf(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := len(b.pages())
	node := func(id, tool string, input map[string]any) map[string]any {
		text, err := json.Marshal(input)
		require.NoError(t, err)
		return map[string]any{"id": id, "tool": tool, "input": string(text)}
	}
	from := map[string]any{"$from": "page.slug"}
	model := newScripted(t, map[string][]reply{})
	rounds, starts := 0, 0
	for killed := 0; killed < *kills; rounds++ {
		n := 100 + rounds
		session := fmt.Sprint("s-", n)
		add := func(id string) map[string]any {
			return node(id, cmstools.AddSection, map[string]any{"page": from, "section": "text",
				"content": map[string]any{"heading": id, "body": "Hi"}})
		}
		second := add("second")
		second["after"] = []string{"first"}
		model.script(fmt.Sprint("round ", n), reply{tool: "plan.submit", input: map[string]any{
			"title": fmt.Sprint("Round ", n), "nodes": []any{
				node("page", cmstools.CreatePage, map[string]any{"name": fmt.Sprint("Round ", n)}),
				add("first"), second,
				node("post", cmstools.UpsertEntry, map[string]any{"collection": "blog", "title": fmt.Sprint("Post ", n),
					"content": map[string]any{"body": "Hi"}}),
				node("last", cmstools.CreatePage, map[string]any{"name": fmt.Sprint("Last ", n)})}}})
		process := func(typed string, args ...string) *exec.Cmd {
			cmd := b.process("", args...)
			for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"} {
				cmd.Env = append(cmd.Env, name+"="+model.env(name))
			}
			cmd.Env = append(cmd.Env, "PAWL_MODEL=openai", typedVar+"="+typed)
			return cmd
		}
		o, _ := b.until(process("", "-mode", "Plan", "-session", session, "-p", fmt.Sprint("Carry out round ", n)),
			1<<20, 0)
		require.Equal(t, 3, o.status, "%s\n%s", o.out, o.err)
		for typed := "approve\n"; ; {
			starts++
			lines, wait := moment(killed)
			o, dead := b.until(process(typed, "chat", "-session", session), lines, wait)
			if dead {
				killed++
				b.leaseEnds()
				if strings.Contains(o.out, "approved") {
					typed = ""
				}
				continue
			}
			if done(b, n) {
				break
			}
			require.Equal(t, 3, o.status, "%s\n%s", o.out, o.err) // it was killed before it was approved
			typed = "approve\n"
		}
	}
	require.Len(t, b.pages(), before+2*rounds)
	t.Logf("%d stops in %d starts, %d plans carried out", *kills, starts, rounds)
}

// started returns how often a call of a tool was started in a session.
func (b *bench) started(session, tool string) (n int) {
	for line := range strings.Lines(b.must(0, "history", "-json", "-session", session).out) {
		if strings.Contains(line, `"kind":"tool_started"`) && strings.Contains(line, tool) {
			n++
		}
	}
	return n
}

func TestAKilledRunGoesOnWithoutRepeatingCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.pages()
	b.hold("tool_finished cms.createPage", "-session", "s", "-p", about+", then list pages").kill()
	require.Len(t, b.pages(), len(before)+1)
	b.leaseEnds()
	o := b.must(0, "chat", "-session", "s")
	require.Contains(t, o.out, "The last run of this session was interrupted; going on.")
	require.Equal(t, 1, b.started("s", "cms.createPage"), "the call that had ended isn't made again")
	require.Contains(t, o.out, "✓ List pages")
	require.Len(t, b.pages(), len(before)+1)
}

func TestAnInterruptedCreationIsRepeatedWithoutApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.pages()
	b.hold("tool_started cms.createPage", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	b.must(0, "chat", "-session", "s")
	require.Len(t, b.pages(), len(before)+1)
	require.Contains(t, b.pages(), "about")
}

func TestASignalStopsTheRunAndTheNextProcessGoesOn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	b := newBench(t)
	before := b.pages()
	h := b.hold("tool_started cms.listPages", "-session", "s", "-p", "list pages, then "+about)
	heard := h.err.wait("Go on with: ")
	require.NoError(t, h.Process.Signal(syscall.SIGTERM))
	<-heard
	require.Equal(t, 1, h.proceed(), h.err.String())
	require.Contains(t, h.err.String(), "Go on with: cms -db ")
	require.Contains(t, h.err.String(), " chat -session s\n")
	require.Equal(t, before, b.pages(), "the rest wasn't done")
	b.must(0, "chat", "-session", "s") // at once: the lease was released
	require.Equal(t, 1, b.started("s", "cms.listPages"), "what had ended isn't made again")
	require.Len(t, b.pages(), len(before)+1)
}
