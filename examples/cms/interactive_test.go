package main

import (
	"bytes"
	"flag"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// changing are the parts of the output that differ between runs, and what replaces them.
var changing = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`· [0-9.]+(ms|s)\b`), "· 1ms"},
	{regexp.MustCompile(`until: \d\d:\d\d:\d\d`), "until: 12:00:00"},
	{regexp.MustCompile(`(pg|sec|ent)_[a-z0-9]{8,}`), "${1}_x"},
	{regexp.MustCompile(`content: .*`), "content: cms.db"},
	{regexp.MustCompile(`-db \S+`), "-db cms.db"},
	{regexp.MustCompile(`\bp-[a-z0-9]{20,}`), "p-x"},
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	for _, c := range changing {
		got = c.re.ReplaceAllString(got, c.with)
	}
	path := filepath.Join("testdata", name)
	if *updateGolden {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestADialogueMatchesTheGoldenFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.chat(strings.Join([]string{
		"/help",
		"Create an About page with a hero section titled Hello",
		"Create an About page with a hero section titled Hello",
		"preview it",
		"delete the page about-2",
		"x",       // isn't a choice
		"e",       // edit
		"{",       // isn't JSON
		"e",       // again
		`{"p":1}`, // doesn't match the schema
		"r",
		"I like it.",
		"change the slug of about-2 to old-about",
		"s",
		`rename about-2 to "Old about"`,
		"change the slug of about-2 to old",
		"A",
		"change the slug of old to older",
		"delete older",
		"a",
		"/mode ask",
		"delete About",
		"/mode fast",
		"/mode",
		"/pages",
		"/nope",
		"",
		"/quit",
		"list pages",
	}, "\n"), "-session", "s-golden")
	require.Equal(t, exitOK, o.status, o.err)
	require.Empty(t, o.err)
	golden(t, "dialogue.golden", o.out)
	require.Equal(t, []string{"about", "home"}, b.pages())
}

func TestTheEndOfTheInputEndsTheProgram(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, exitOK, b.chat("").status)
	require.Equal(t, exitOK, b.chat("list pages").status, "also without a line break")
	o := b.chat("delete Home\n", "-session", "s")
	require.Equal(t, exitWaiting, o.status, "nobody is there to decide")
	require.Equal(t, 1, strings.Count(o.out, "Approval needed"))
	require.Contains(t, o.out, "-resume s -id ")
	require.Equal(t, []string{"home"}, b.pages())
}

func TestAtTheStartAWaitingSessionAsksForItsDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitWaiting, "-session", "s", "-p", "delete Home")
	o := b.chat("", "-session", "s")
	require.Equal(t, exitWaiting, o.status)
	o = b.chat("a\nlist pages\n", "-session", "s")
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, "This session waits for a decision.")
	require.Contains(t, o.out, `I deleted the page "Home"`)
	require.Contains(t, o.out, "There are 0 pages:")
}

func TestApprovalsAreAnsweredByYesOrNo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.chat("delete Home\nn\nwe need it\n")
	require.Contains(t, o.out, "rejected by ann")
	require.Equal(t, []string{"home"}, b.pages())
	o = b.chat("delete Home\nY\n")
	require.Contains(t, o.out, "approved by ann")
	require.Empty(t, b.pages())
}

func TestAtTheStartAnInterruptedSessionIsResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_finished", "-session", "s", "-p", about).kill()
	b.leaseEnds()
	o := b.chat("", "-session", "s")
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, "The last run of this session was interrupted; going on.")
	require.Contains(t, o.out, `The page "About" is at /about`)
}

func TestALateDecisionIsReportedAndTheRunContinues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.chat("delete Home\na\nlist pages\n", "-expires", "1ns")
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, "Too late: the approval has expired.")
	require.Contains(t, o.out, "nobody approved it in time")
	require.Contains(t, o.out, "There is 1 page:")
}

func TestACallInDoubtIsDecidedInADialogue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hold("tool_started cms.updateSection", "-session", "s", "-p", hide).kill()
	b.leaseEnds()
	o := b.chat("e\nw\nit was hidden\n", "-session", "s")
	require.Equal(t, exitOK, o.status, o.err)
	require.Contains(t, o.out, "[a] run it again, [r] don't run it, [w] say what it did, [?]: ")
	require.Contains(t, o.out, "Type one of the letters.")
	require.Contains(t, o.out, "it was hidden")
	require.Equal(t, site.Published, b.hero().Status)
}

func TestARepeatedlyInvalidCallIsShownToAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, out := b.program(t, "create it\na\ne\n{\"name\":\"Right\"}\n", "-session", "s")
	bad := providertest.Call("cms.createPage", map[string]any{"title": "Right"})
	m := providertest.Script(bad, bad, bad, providertest.Say("Done."))
	b.with(p, m, p.store)
	require.Equal(t, exitOK, p.chat(t.Context()))
	require.Contains(t, out.String(), "This call is invalid: Create page “Right”")
	require.Contains(t, out.String(), "Type one of the letters.", "an invalid call can't be approved")
	require.Equal(t, []string{"home", "right"}, b.pages())
	m.AssertDone(t)
}

func TestWithYesADialogueAsksNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.chat("delete Home\n", "-yes")
	require.Equal(t, exitOK, o.status)
	require.NotContains(t, o.out, "[a]pprove")
	require.Empty(t, b.pages())
}

// A watched is an output that calls a function once it has shown a text.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	at   string
	then func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.buf.Write(b)
	w.look()
	return n, err
}

// watch calls then once the output contains the text at.
func (w *watched) watch(at string, then func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.then = at, then
	w.look()
}

func (w *watched) look() {
	if w.at != "" && strings.Contains(w.buf.String(), w.at) {
		w.at = ""
		w.then()
	}
}

// String returns what was written so far.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// program opens a program without running it.
func (b *bench) program(t *testing.T, stdin string, args ...string) (*program, *watched) {
	t.Helper()
	o, err := parseOptions(append([]string{"-db", b.db, "-by", "ann", "chat"}, args...), io.Discard)
	require.NoError(t, err)
	out := &watched{}
	p := &program{options: o, llm: model.New(), label: model.Label, in: strings.NewReader(stdin),
		out: &output{w: out}, err: out}
	require.NoError(t, p.open(t.Context()))
	t.Cleanup(func() { require.NoError(t, p.close()) })
	return p, out
}

// with gives a program another model and store.
func (b *bench) with(p *program, m provider.Provider, store journal.Store) {
	b.t.Helper()
	require.NoError(b.t, p.hub.Close())
	a, err := newAgent(m, cmstools.Config{Site: p.site}, store, 0, nil)
	require.NoError(b.t, err)
	require.NoError(b.t, p.use(a))
}
