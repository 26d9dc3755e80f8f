package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func TestAWaitingRunIsResumedByAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.process("", "-session", "s", "-p", "delete Home")
	out, err := first.Output()
	require.Equal(t, exitWaiting, first.ProcessState.ExitCode(), "%s: %v", out, err)
	id := outcome{out: string(out)}.pause(t)
	second := b.process("", "-resume", "s", "-id", id, "-decide", "approve")
	out, err = second.Output()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `I deleted the page "Home" (/).`)
	require.Empty(t, b.pages())
}

func TestAKilledRunResumesWithoutRepeatingCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.hold("tool_finished", "-session", "s", "-p", about+", then list pages")
	h.kill()
	require.Equal(t, []string{"about", "home"}, b.pages())

	b.leaseEnds()
	o := b.must(exitUsage, "-session", "s", "-p", "list pages")
	require.Contains(t, o.err, "go run ./examples/cms -db "+b.db+" -continue -session s")
	o = b.must(exitOK, "-continue", "-session", "s")
	require.NotContains(t, o.out, "Create page", "the call that had ended isn't made again")
	require.Contains(t, o.out, "✓ List pages")
	require.Contains(t, o.out, `The page "About" is at /about`)
	require.Equal(t, []string{"about", "home"}, b.pages())
	b.must(exitUsage, "-continue", "-session", "s") // there is nothing to resume
}

func TestAPersonDecidesOnACallInDoubt(t *testing.T) {
	t.Parallel()
	for decide, want := range map[string]struct {
		says   string
		status string
	}{
		"approve": {"is unpublished now", site.Unpublished},
		"reject":  {"you rejected it", site.Published},
		"answer":  {"it was hidden", site.Published},
	} {
		b := newBench(t)
		b.hold("tool_started cms.updateSection", "-session", "s", "-p", hide).kill() // it has had no effect yet
		b.leaseEnds()
		o := b.must(exitWaiting, "-yes", "-continue", "-session", "s") // -yes doesn't decide it
		require.Contains(t, o.out, "It isn't known whether this call took effect: Update section “sec_home_hero”")
		require.Equal(t, site.Published, b.hero().Status)
		o = b.must(exitOK, "-resume", "s", "-decide", decide, "-input", `"it was hidden"`)
		require.Contains(t, o.out, want.says, decide)
		require.Equal(t, want.status, b.hero().Status, decide)
	}
}

func TestInterruptedIdempotentWritesAreRepeatedWithoutApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_started cms.addSectionToPage", "-session", "s", "-p", news).kill()
	b.leaseEnds()
	require.Contains(t, b.must(exitOK, "-continue").out, `The page "Home" has a text section titled "News" now.`)
	require.Equal(t, 2, b.sections("home"))
	require.Contains(t, b.must(exitOK, "-continue").err, "No run was interrupted.")
}

func TestAnInterruptedCreationIsRepeatedWithoutApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_started cms.createPage", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	o := b.must(exitOK, "-continue", "-session", "s")
	require.Contains(t, o.out, `The page "About" is at /about`)
	require.Equal(t, []string{"about", "home"}, b.pages())
}

// A failing store stores nothing more once the site has a page, as if another process had taken the
// session over.
type failing struct {
	journal.Store
	site *site.Site
	slug string
}

func (f failing) Append(ctx context.Context, a journal.Append) error {
	if _, err := f.site.GetPage(ctx, f.slug, ""); err == nil {
		return &journal.ConflictError{Session: a.Session, Fence: a.Fence, HaveFence: a.Fence + 1}
	}
	return f.Store.Append(ctx, a)
}

func TestACreationWhoseResultWasLostMakesNoSecondPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, _ := b.program(t, "", "-session", "s")
	b.with(p, p.llm, failing{p.store, p.site, "about"})
	_, err := p.agent.Run(t.Context(), agent.Input{Session: "s", Prompt: about})
	var conflict *journal.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, []string{"about", "home"}, b.pages())
	b.leaseEnds()
	o := b.must(exitOK, "-continue", "-session", "s")
	require.Contains(t, o.out, `The page "About" is at /about, with a hero section titled "Hello".`)
	require.Equal(t, []string{"about", "home"}, b.pages())
}

func TestAnInterruptedAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold(`step_started "step":2`, "-session", "s", "-p", about).kill()
	b.leaseEnds()
	o := b.must(exitOK, "-continue", "-session", "s")
	require.Contains(t, o.out, "… the answer starts again: ")
	require.Contains(t, o.out, `The page "About" is at /about, with a hero section titled "Hello".`)
	require.NotContains(t, o.out, "✓")
	require.Equal(t, []string{"about", "home"}, b.pages())
}

func TestAnInterruptedReadIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_started cms.listPages", "-session", "s", "-p", "list pages").kill()
	b.leaseEnds()
	require.Contains(t, b.must(exitOK, "-continue", "-session", "s").out, "There is 1 page:")
}

func TestResumingWaitsForTheLeaseOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_finished", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	store, err := sqlite.Open(b.db)
	require.NoError(t, err)
	lease, err := store.Lease(t.Context(), "s", "another process", 5*time.Second)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	o := b.must(exitOK, "-continue", "-session", "s")
	require.False(t, time.Now().Before(lease.Until))
	require.Contains(t, o.out, "The last process didn't close this session; going on in ")
	require.Contains(t, o.out, `The page "About" is at /about`)
}

func TestResumingStartsWhenTheLeaseIsReleased(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_finished", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	p, out := b.program(t, "", "-session", "s")
	lease, err := p.store.Lease(t.Context(), "s", "another process", time.Hour)
	require.NoError(t, err)
	store := &counting{Store: p.store}
	store.third = func() error { return p.store.Release(t.Context(), lease) }
	b.with(p, p.llm, store)
	require.Equal(t, exitOK, p.oneShot(t.Context(), ""), out.String())
	require.True(t, time.Now().Before(lease.Until))
	require.Contains(t, out.String(), "The last process didn't close this session; going on in ")
}

// A counting store calls a function before the third lease.
type counting struct {
	journal.Store
	leases int
	third  func() error
}

func (c *counting) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if c.leases++; c.leases == 3 {
		if err := c.third(); err != nil {
			return journal.Lease{}, err
		}
	}
	return c.Store.Lease(ctx, session, owner, ttl)
}

func TestASessionIsRunByOneProcessAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.hold("tool_started cms.createPage", "-session", "s", "-p", about)
	o := b.must(exitFailed, "-session", "s", "-p", "list pages")
	require.Contains(t, o.err, `session "s" has a run under way elsewhere`)
	require.Contains(t, b.must(exitOK, "-session", "t", "-p", "list pages").out, "There is 1 page:")
	require.Equal(t, exitOK, h.proceed(), h.err.String())
	require.Equal(t, []string{"about", "home"}, b.pages())
}

func TestProcessesShareADatabase(t *testing.T) {
	t.Parallel()
	const processes = 4
	b := newBench(t)
	var all sync.WaitGroup
	outs, errs := make([]string, processes), make([]error, processes)
	for i := range processes {
		cmd := b.process("", "-p", fmt.Sprintf("create a page called Page %d, then create a page called Same", i))
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			outs[i], errs[i] = string(out), err
		})
	}
	all.Wait()
	for i := range processes {
		require.NoError(t, errs[i], outs[i])
	}
	pages := b.pages()
	require.Equal(t, []string{"home", "page-0", "page-1", "page-2", "page-3", "same", "same-2"}, pages[:7])
	require.Len(t, pages, 9, "whoever finds the slug taken takes another: %v", pages)
}

func TestASignalStopsTheRunAndASecondOneEndsTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	interrupted := func(by os.Signal) (*bench, *held) {
		b := newBench(t)
		h := b.hold("tool_started cms.listPages", "-session", "s", "-p", "list pages, then "+about)
		heard := make(chan struct{})
		h.err.watch("The run was interrupted.", sync.OnceFunc(func() { close(heard) }))
		require.NoError(t, h.Process.Signal(by))
		if by == syscall.SIGTERM {
			<-heard
			return b, h
		}
		for line := ""; !strings.Contains(line, "Another Ctrl-C ends the program at once."); {
			var err error
			line, err = h.out.ReadString('\n')
			require.NoError(t, err)
		}
		return b, h
	}
	b, h := interrupted(syscall.SIGTERM)
	require.Equal(t, exitStopped, h.proceed(), h.err.String())
	require.Contains(t, h.err.String(), " -continue -session s")
	require.Equal(t, []string{"home"}, b.pages(), "the rest wasn't done")
	o := b.must(exitOK, "-continue") // at once: the lease was released
	require.Contains(t, o.out, "There is 1 page:")
	require.NotContains(t, o.out, "List pages", "what had ended isn't made again")
	require.Equal(t, []string{"about", "home"}, b.pages())

	b, h = interrupted(syscall.SIGTERM)
	require.Equal(t, exitStopped, h.proceed(), h.err.String())
	require.Contains(t, b.must(exitUsage, "-resume", "s", "-decide", "approve").err, "-continue resumes it")
	o = b.chat("", "-session", "s")
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, "The last run of this session was interrupted; going on.")
	require.Equal(t, []string{"about", "home"}, b.pages())

	_, h = interrupted(syscall.SIGINT)
	over := make(chan struct{})
	h.err.watch("The run was interrupted.", func() { close(over) })
	require.NoError(t, h.Process.Signal(syscall.SIGINT))
	<-over
	require.NoError(t, h.Process.Signal(syscall.SIGINT)) // while calls in progress are waited for
	var exit *exec.ExitError
	require.ErrorAs(t, h.Wait(), &exit)
	status, ok := exit.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled())
	require.Equal(t, syscall.SIGINT, status.Signal())
}
