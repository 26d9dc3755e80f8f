package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// until starts a process and stops it after the given number of lines of output and the given time,
// with SIGKILL or, each third time, with SIGTERM. stopped is false if the process ended before.
func (b *bench) until(lines int, wait time.Duration, args ...string) (o outcome, stopped bool) {
	b.t.Helper()
	cmd := b.process("", args...)
	var out, stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, cmd.Start())
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
		require.NoError(b.t, cmd.Process.Signal(how))
	}
	_, err = io.Copy(io.Discard, r)
	require.NoError(b.t, err)
	cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	return outcome{status, out.String(), stderr.String()}, status < 0 || status == exitStopped
}

// A request asks for several writes. Its processes are killed while they make them.
type request struct{ n int }

func (r request) session() string { return fmt.Sprintf("s-%d", r.n) }

func (r request) text() string {
	return fmt.Sprintf(
		`create a page called Round %[1]d with a hero section titled Hello, then add a text section to Round %[1]d titled News saying Hi, `+
			`then write a blog entry titled Post %[1]d saying Hi, then create a page called Last %[1]d`, r.n)
}

// done reports whether the whole request was carried out, and requires that no part of it was
// carried out twice.
func (r request) done(b *bench) (done bool) {
	b.look(func(s *site.Site) {
		pages, err := s.ListPages(b.t.Context(), site.Query{Limit: 200, Text: fmt.Sprintf("round-%d", r.n)})
		require.NoError(b.t, err)
		last, err := s.ListPages(b.t.Context(), site.Query{Limit: 200, Text: fmt.Sprintf("last-%d", r.n)})
		require.NoError(b.t, err)
		entries, err := s.ListEntries(b.t.Context(),
			site.ListEntries{Collection: "blog", Query: site.Query{Limit: 200, Text: fmt.Sprintf("post-%d", r.n)}})
		require.NoError(b.t, err)
		require.LessOrEqual(b.t, pages.Total, 1)
		require.LessOrEqual(b.t, last.Total, 1)
		require.LessOrEqual(b.t, entries.Total, 1)
		if pages.Total == 1 {
			require.LessOrEqual(b.t, pages.Items[0].Sections, 2)
		}
		done = pages.Total+last.Total+entries.Total == 3 && pages.Items[0].Sections == 2
	})
	return done
}

var kills = flag.Int("kills", 2, "how many processes TestCrashesAtRandomMomentsRepeatNoWrite stops")

func TestCrashesAtRandomMomentsRepeatNoWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rounds, starts := 0, 0
	for killed := 0; killed < *kills; rounds++ {
		r := request{100 + rounds}
		args := []string{"-session", r.session(), "-p", r.text()}
		for {
			starts++
			lines, wait := rand.IntN(12), time.Duration(rand.IntN(15))*time.Millisecond
			if lines == 0 {
				wait = time.Duration(rand.IntN(400)) * time.Millisecond
			}
			if killed >= *kills {
				lines = 1 << 20 // it may run to its end
			}
			o, dead := b.until(lines, wait, args...)
			if dead {
				killed++
				b.leaseEnds()
				args = []string{"-continue"}
				continue
			}
			require.Equal(t, exitOK, o.status, "%s\n%s", o.out, o.err)
			if r.done(b) {
				break
			}
			// It was killed before anything was stored, so there is nothing to resume; it is
			// requested again.
			require.Contains(t, o.err, "No run was interrupted.")
			args = []string{"-session", r.session(), "-p", r.text()}
		}
	}
	require.Len(t, b.pages(), 1+2*rounds)
	t.Logf("%d stops in %d starts, %d requests carried out", *kills, starts, rounds)
}

func TestContentAndRunsAreInOneFileThatOnlyItsOwnerCanRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, os.Remove(b.db))
	b.must(exitWaiting, "-session", "s", "-p", "delete Home")
	entries, err := os.ReadDir(filepath.Dir(b.db))
	require.NoError(t, err)
	require.Len(t, entries, 2, "the file, and the folder of the uploads")
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.Equal(t, "cms.db", info.Name())
	require.Zero(t, info.Mode().Perm()&0o077, "only the owner may read the conversations")
	db, err := sql.Open("sqlite", b.db)
	require.NoError(t, err)
	var pages, sessions int
	err = db.QueryRow("SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM pawl_sessions)").Scan(&pages,
		&sessions)
	require.NoError(t, errors.Join(err, db.Close()))
	require.Equal(t, [2]int{3, 1}, [2]int{pages, sessions})
}

func TestInterruptedRunsOfOtherSessionsAreMentioned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_finished", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	o := b.must(exitOK, "-session", "t", "-p", "list pages")
	require.Contains(t, o.err, "The run of session s was interrupted. To resume it:\n")
	require.Contains(t, o.err, " -continue -session s\n")
	o = b.chat("list pages\n", "-session", "t")
	require.Contains(t, o.err, " -continue -session s\n")
	require.Contains(t, o.out, "There are 2 pages:")
	b.must(exitOK, "-continue", "-session", "s")
	require.Empty(t, b.chat("list pages\n", "-session", "t").err)
	require.NotContains(t, b.must(exitOK, "-session", "u", "-p", "list pages").err, "interrupted")
}

func TestTheChangesOfARunAreUndone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-session", "s", "-p",
		about+", then "+news+", then set the title of the hero on Home to Start, then rename Home to Start")
	o := b.must(exitOK, "-session", "s", "-undo")
	for _, tool := range []string{"createPage", "addSectionToPage", "syncPageContents", "updatePage"} {
		require.Contains(t, o.out, "✓ undone: cms."+tool+" {")
	}
	require.Contains(t, b.must(exitOK, "-session", "s", "-undo").out, "all of it is undone already")
	require.Equal(t, "Welcome to local-site", b.hero().Content["title"])
	require.Equal(t, []string{"home"}, b.pages())
	require.Equal(t, 1, b.sections("home"))

	b.must(exitOK, "-session", "t", "-p", hide)
	o = b.must(exitFailed, "-session", "t", "-undo")
	require.Contains(t, o.out, "✗ can't be undone: cms.updateSection")
	b.must(exitWaiting, "-session", "u", "-p", "delete Home")
	require.Contains(t, b.must(exitFailed, "-session", "u", "-undo").err, "a run is open")
}

func TestTheHistoryShowsSessionsAndConversations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Contains(t, b.must(exitOK, "history").out, "There are no sessions.")
	b.must(exitOK, "-session", "s", "-p", "list pages")
	b.must(exitWaiting, "-session", "t", "-p", "delete Home")
	require.Regexp(t, `(?s) paused     t .* completed  s `, b.must(exitOK, "history").out)
	o := b.must(exitOK, "history", "-session", "s")
	require.Regexp(t, `(?s)^> list pages\n→ cms.listPages .*There is 1 page`, o.out, "without what the model thought")
}

func TestALogIsExportedAsJSONLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-session", "s", "-p", "list pages")
	o := b.must(exitOK, "history", "-session", "s", "-json")
	n := 0
	for line := range strings.Lines(o.out) {
		var fact struct {
			Session string
			Seq     int
			Kind    string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &fact), line)
		n++
		require.Equal(t, n, fact.Seq)
		require.Equal(t, "s", fact.Session)
		require.NotEmpty(t, fact.Kind)
	}
	require.Greater(t, n, 4)
}
