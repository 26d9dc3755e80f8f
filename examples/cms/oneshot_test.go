package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

const (
	about = "Create an About page with a hero section titled Hello"
	news  = "add a text section to Home titled News saying Hello"
	hide  = "hide the hero section on Home"
)

func TestAnAboutPageIsCreated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitOK, "-p", about)
	require.Contains(t, o.out, "✓ Create page “About” · ")
	require.True(t, strings.HasSuffix(o.out, `The page "About" is at /about, with a hero section titled "Hello".`+"\n"),
		o.out)
	require.Contains(t, o.err,
		"model: built-in (plain Go, understands a documented set of requests; not a language model)")
	require.Contains(t, o.err, "content: "+b.db)
	b.look(func(s *site.Site) {
		p, err := s.GetPage(t.Context(), "about", "")
		require.NoError(t, err)
		require.Equal(t, "About", p.Name)
		require.Len(t, p.Sections, 1)
		require.Equal(t, "Hello", p.Sections[0].Content["title"])
	})
}

func TestATakenSlugIsCorrectedAndReported(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-p", about)
	o := b.must(exitOK, "-p", about)
	require.Contains(t, o.out, `✗ Create page “About” · failed · `)
	require.Contains(t, o.out, `slug "about" exists already`)
	require.Contains(t, o.out, `The slug "about" was taken, so I created the page as "about-2".`)
	require.Equal(t, []string{"about", "about-2", "home"}, b.pages())
}

func TestASessionRemembersEarlierRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-session", "talk", "-p", about)
	o := b.must(exitOK, "-session", "talk", "-p", "preview it")
	require.Contains(t, o.out, "About (/about, en)")
	require.Contains(t, o.out, "title: Hello")
	require.Contains(t, b.must(exitOK, "-session", "other", "-p", "preview it").out, "Which page do you mean?")
}

func TestSeveralRequestsAreCarriedOutInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitOK, "-p",
		`create a page called News, then add a text section titled "Today" saying "Nothing happened." to it, and set the title of Home to Start`)
	require.Contains(t, o.out, `The page "News" has a text section titled "Today" now.`)
	require.Contains(t, o.out, `The title of the hero on the page "Home" is "Start" now.`)
	b.look(func(s *site.Site) {
		p, err := s.GetPage(t.Context(), "news", "")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"heading": "Today", "body": "Nothing happened."}, p.Sections[0].Content)
	})
}

func TestEveryRequestOfTheDocumentationWorks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var requests, says []string
	for _, c := range [][2]string{
		{about, `The page "About" is at /about, with a hero section titled "Hello".`},
		{"list pages", "There are 2 pages:"},
		{"list sections", "There are 4 section definitions:"},
		{"list collections", "There is 1 collection:"},
		{"list entries of blog", "Hello, world (hello-world)"},
		{"show Home", `The page "Home" is at /.`},
		{"show entry hello-world", "The first entry of this blog."},
		{"preview Home", "title: Welcome to local-site"},
		{"find abuot", `the page "About" (about)`},
		{"rename About to About us", `is called "About us" now`},
		{`set the description of about to "Who we are"`, `is described as "Who we are" now`},
		{"add a text section to about titled News saying Hello", "has a text section titled"},
		{"hide the hero section on about", "is unpublished now"},
		{"hide the hero section on about", "is unpublished already"},
		{"publish the hero section on about", "is published now"},
		{"set the subtitle of the hero on about to Welcome",
			`The subtitle of the hero on the page "About us" is "Welcome" now.`},
		{`set the title of Home to "Willkommen" in German`, `is "Willkommen" now`},
		{`write a blog entry titled First steps saying "It works."`, "at /blog/first-steps"},
		{`write a blog entry titled First steps saying "It works."`,
			`The slug "first-steps" was taken, so I wrote the entry as "first-steps-2".`},
		{`set the body of the entry first-steps to "Better."`, `is "Better." now`},
		{"rename the entry first-steps to Second steps", `The title of the entry "First steps" is "Second steps" now.`},
		{"help", "I understand requests like these"},
		{"sing a song", `I don't understand "sing a song"`},
		{"change the slug of about to about-us", `has moved from /about to /about-us`},
		{"remove the hero section from about-us", `I removed the hero section from the page "About us".`},
		{"delete about-us", `I deleted the page "About us" (/about-us).`},
	} {
		requests, says = append(requests, c[0]), append(says, c[1])
	}
	o := b.chat(strings.Join(requests, "\n"), "-yes")
	require.Equal(t, exitOK, o.status, o.err)
	require.Equal(t, 3, strings.Count(o.out, "◦ approved by ann (-yes)"))
	answers := strings.Split(o.out, "\n> ")[1:]
	require.Len(t, answers, len(requests)+1) // plus the prompt at which the input ended
	for i, request := range requests {
		require.Contains(t, answers[i], says[i], request)
	}
}

func TestSettingAValueAddsTheMissingSection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-p", "create a page called Empty")
	o := b.must(exitOK, "-p", "set the title of the hero on Empty to Full")
	require.Contains(t, o.out, "The page had no hero section, so I added one.")
	require.Contains(t, b.must(exitOK, "-p", "show Empty").out, "title: Full")
}

func TestTheYesFlagApprovesEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitOK, "-yes", "-p", "delete Home")
	require.Contains(t, o.out, "◦ approved by ann (-yes)")
	require.Contains(t, o.out, `I deleted the page "Home" (/).`)
	require.Empty(t, b.pages())
}

func TestReadOnlyModesWriteNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitOK, "-mode", "ask", "-p", about)
	require.Contains(t, o.out, "The mode cms-crud has it.")
	require.NotContains(t, o.out, "✓")
	require.Contains(t, b.must(exitOK, "-mode", "ask", "-p", "list pages").out, "There is 1 page:")

	o = b.must(exitOK, "-mode", "architect", "-p", about)
	require.Contains(t, o.out, "✓ Validate plan")
	require.Contains(t, o.out, "I tried it on a copy of the site, and it works.\nNothing was changed.")
	o = b.must(exitOK, "-mode", "architect", "-p", "create a page called Home")
	require.Contains(t, o.out, `it doesn't work:`)
	require.Contains(t, o.out, `use another slug such as "home-2"`)
	require.Contains(t, b.must(exitOK, "-mode", "architect", "-p", "delete Home").out, "operation 1 needs approval")
	require.Equal(t, []string{"home"}, b.pages())
}

func TestInDebugModeARunMakesOneWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.run("", "-mode", "debug", "-p", "create a page called A, then create a page called B")
	require.Equal(t, exitOK, o.status)
	require.Contains(t, o.out, "✗ Create page “B” · denied: ")
	require.Contains(t, o.out,
		`I couldn't create the page "B": in mode debug a run may make one write, and cms.createPage was it`)
	require.Equal(t, []string{"a-1", "home"}, b.pages())
	b.must(exitOK, "-mode", "debug", "-p", "create a page called B") // another run
	require.Equal(t, []string{"a-1", "b-1", "home"}, b.pages())
}

func TestAtItsStepLimitARunSummarizesItsCallsAndExitsWith4(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitStopped, "-mode", "debug", "-p",
		"list pages, list sections, list collections, list entries, list pages")
	require.Contains(t, o.out,
		"This run is at its limit, so I stop here. These calls succeeded: cms.listPages, cms.listSections, "+
			"cms.listCollections, cms.listEntries.")
	require.Contains(t, o.err, "Steps")
}

func TestATaskOfTenStepsFitsIntoARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all []string
	for i := range 10 {
		all = append(all, fmt.Sprintf("create a page called Page %d", i))
	}
	b.must(exitOK, "-p", strings.Join(all, ", then "))
	require.Len(t, b.pages(), 11)
}

func TestInvalidArgumentsExitWith2(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-nope"}, "not defined"},
		{[]string{"Create a page"}, "isn't a flag"},
		{[]string{"-p", " "}, "-p needs a request"},
		{[]string{"-p", "x", "-mode", "fast"}, `unknown mode "fast"`},
		{[]string{"-p", "x", "-resume", "s", "-decide", "approve"}, "only one of"},
		{[]string{"-resume", "s"}, "needs -decide"},
		{[]string{"-resume", "s", "-decide", "perhaps"}, "needs -decide with one of"},
		{[]string{"-resume", "s", "-decide", "edit"}, "needs -input"},
		{[]string{"-resume", "s", "-decide", "suggest"}, "needs -reason"},
		{[]string{"-resume", "", "-decide", "approve"}, "-resume needs a session"},
		{[]string{"-resume", "s", "-session", "t", "-decide", "approve"}, "different sessions"},
		{[]string{"-decide", "approve"}, "need -resume"},
		{[]string{"-continue", "-session", ""}, "-session needs a name"},
		{[]string{"-undo"}, "needs a -session"},
		{[]string{"-session", "s"}, "-session needs a command"},
		{[]string{"chat", "-p", "x"}, "chat can't be combined with -p"},
		{[]string{"history", "-json"}, "history with a -session"},
		{[]string{"history", "-session", "unknown"}, "unknown"},
		{[]string{"seed", "-session", "s"}, "seed takes no -session"},
		{[]string{"-continue", "-undo", "-session", "s"}, "only one of"},
		{[]string{"history", "-json", "-session", "unknown"}, "unknown"},
		{[]string{"-undo", "-session", "unknown"}, "unknown"},
		{[]string{"-json", "-p", "x"}, "-json is for approvals"},
		{[]string{"approvals", "allow"}, `unknown approvals command "allow"`},
		{[]string{"approvals", "list", "x"}, `takes no argument "x"`},
		{[]string{"approvals", "approve"}, "needs the id"},
		{[]string{"approvals", "approve", "p-1", "p-2"}, "nothing else"},
		{[]string{"approvals", "approve", "p-1"}, "it may be decided already"},
		{[]string{"approvals", "edit", "p-1"}, "needs -input"},
		{[]string{"approvals", "edit", "p-1", "-input", "{"}, "isn't valid JSON"},
		{[]string{"approvals", "suggest", "p-1"}, "needs -reason"},
		{[]string{"approvals", "-reason", "x"}, "need a decision"},
		{[]string{"approvals", "-nope"}, "not defined"},
		{[]string{"-p", "x", "approvals"}, "-p can't be used with approvals"},
		{[]string{"approvals", "revoke"}, "needs the name of a tool"},
		{[]string{"approvals", "revoke", "cms.updatePage"}, "has no standing approval"},
		{[]string{"-continue", "-session", "unknown"}, "unknown"},
		{[]string{"-continue", "-session", "s", "-mode", "ask"}, "-mode is for new requests"},
		{[]string{"-p", "x", "-expires", "-1s"}, "-expires"},
		{[]string{"-p", "x", "-session", "a\nb"}, "Session"},
		{[]string{"-p", "x", "-model", "openai"}, "OPENAI_API_KEY"},
		{[]string{"-p", "x", "-model", "m"}, "set it to standin"},
		{[]string{"-resume", "s", "-decide", "edit", "-input", `{"page": x}`},
			`-input isn't valid JSON: invalid character 'x' looking for beginning of value, after {"page": x`},
		{[]string{"-resume", "s", "-decide", "answer", "-input", `{"page"`},
			`-input isn't valid JSON: unexpected end of JSON input, after {"page"`},
		{[]string{"-resume", "s", "-decide", "answer", "-input", `done`}, `after d`},
	} {
		o := b.run("", c.args...)
		require.Equal(t, exitUsage, o.status, "%q", c.args)
		require.Contains(t, o.err, c.says, "%q", c.args)
		require.Empty(t, o.out, "%q", c.args)
	}
}

func TestHelpListsTheRequestsAndTheExitStatuses(t *testing.T) {
	t.Parallel()
	o := newBench(t).must(exitOK, "-h")
	for _, part := range []string{"create a page called About", "-resume session", "Exit status: 0",
		"3 it waits for a decision", "not a language model"} {
		require.Contains(t, o.err, part)
	}
}

func TestAForeignFileExitsWith1AndStaysUnchanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, os.WriteFile(b.db, []byte("a letter"), 0o600))
	require.Contains(t, b.must(exitFailed, "-p", "list pages").err, "isn't a SQLite file")
	kept, err := os.ReadFile(b.db)
	require.NoError(t, err)
	require.Equal(t, "a letter", string(kept))
	b.db = filepath.Join(t.TempDir(), "no", "such", "folder.db")
	require.Contains(t, b.must(exitFailed, "-p", "list pages").err, "doesn't exist")
}

func TestEachContentFileHasItsOwnRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitWaiting, "-session", "s", "-p", "delete Home")
	other := &bench{t, strings.TrimSuffix(b.db, ".db")}
	require.Contains(t, other.must(exitUsage, "-resume", "s", "-decide", "approve").err, "unknown")
	require.Equal(t, []string{"blog", "home", "services"}, other.pages())
}

// A full is an output that can't be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAnOutputErrorExitsWith1(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, args := range [][]string{{"-p", "list pages"}, {"chat"}} {
		var err strings.Builder
		status := run(append([]string{"-db", b.db}, args...), strings.NewReader(""), full{}, &err)
		require.Equal(t, exitFailed, status, "%q", args)
		require.Equal(t, 1, strings.Count(err.String(), "cms: the output couldn't be written: "+syscall.ENOSPC.Error()),
			err.String())
	}
}

func TestArgumentsAreQuotedForAShell(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{"cms.db": "cms.db", "": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		`{"a":1}`: `'{"a":1}'`, "$HOME": "'$HOME'"} {
		require.Equal(t, want, quoted(arg))
	}
}
