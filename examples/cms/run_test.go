package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

const about = "Create an About page with a hero section titled Hello"

func TestARequestIsCarriedOutAndTheAnswerPrinted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(0, "-p", about)
	require.Contains(t, o.out, "✓ Create page “About” · ")
	require.Contains(t, o.out, "Hello")
	require.NotContains(t, o.out, "stand-in")
	require.Contains(t, o.err, "A stand-in writes, not a real model;")
	b.look(func(s *site.Site) {
		p, err := s.GetPage(t.Context(), "about", "")
		require.NoError(t, err)
		require.Len(t, p.Sections, 1)
		require.Equal(t, "Hello", p.Sections[0].Content["title"])
	})
	require.NotContains(t, b.must(0, "-p", "preview About").out, "http://", "nobody serves it")
}

func TestADeletionWaitsForADecision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.pages()
	o := b.must(3, "-session", "s", "-p", "Delete the home page")
	require.Contains(t, o.out, "Approval needed: ")
	require.Contains(t, o.err, "Go on with: cms -db ")
	require.Equal(t, before, b.pages())
	require.Equal(t, 3, b.run("", "chat", "-session", "s").status, "nobody has decided")
	o = b.run("reject\nwe need it\n", "chat", "-session", "s")
	require.Zero(t, o.status, o.err)
	require.Contains(t, o.out, "A stand-in writes", "it comes first")
	require.Equal(t, before, b.pages())
	b.must(3, "-session", "t", "-p", "Delete the home page")
	o = b.run("approve\n", "chat", "-session", "t")
	require.Zero(t, o.status, o.err)
	require.NotContains(t, b.pages(), "home")

	require.Zero(t, b.must(0, "-yes", "-p", "Delete the blog page").status)
	require.NotContains(t, b.pages(), "blog")
}

func TestTheHistorySaysInWordsWhatHappened(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Empty(t, b.must(0, "history").out)
	b.must(0, "-session", "s", "-p", about)
	b.must(0, "-session", "s", "-p", about) // the address is taken
	require.Regexp(t, `(?m)^\d{4}-.* completed  s  Create an About page`, b.must(0, "history").out)
	o := b.must(0, "history", "-session", "s")
	require.Contains(t, o.out, "> "+about+"\n")
	require.Contains(t, o.out, "✓ Create page “About”\n")
	require.Contains(t, o.out, "✗ Create page “About”: ")
	require.NotRegexp(t, `[{}]|<data|cms\.`, o.out)
	require.Equal(t, 2, b.run("", "history", "-session", "nobody").status)
	require.Contains(t, b.must(0, "history", "-session", "s", "-json").out, `"kind":"run_started"`)
}

func TestSeedAndResetReplaceTheContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.pages()
	b.must(0, "-session", "s", "-p", about)
	require.Contains(t, b.must(0, "export").out, `"slug": "about"`)
	b.must(0, "seed")
	require.Equal(t, before, b.pages())
	require.NotEmpty(t, b.must(0, "history", "-session", "s").out, "conversations are kept")
	b.must(0, "reset")
	require.NoFileExists(t, b.db)
}

// rows returns the rows of the README's table of what to try: mode, request, and what is seen.
func rows(t *testing.T) (rows [][]string) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(readme), "| mode | write | and see |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, cells, 5, line)
		rows = append(rows, []string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
	}
	return rows
}

// The rows are tried one after the other, on one site.
func TestTheRowsOfTheReadmeWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := map[string]struct {
		code int
		says string
	}{
		"Create an About page with a hero titled Hello": {0, `at /about.*It is a draft`},
		"Publish About, and add About to the menu":      {0, `✓ Publish page .*✓ Put page .* into the menu`},
		"Delete the home page":                          {3, `Approval needed: Delete page “Home”`},
		"Create a page called Members, then change the slug of Members to our-team": {3,
			`✓ Create page “Members”.*why:   the address .* links to the old one break`},
		"Describe the Members page as team, people, staff": {0, `✓ Update page “Members”`},
		"Update the title on my taem page to Our Team":     {0, "I'm not sure which page .*Members.*\n- `"},
		"Create a contact page with a form":                {3, `Question: Choose a plan.*1\. .*2\. .*3\. `},
		"Add a hero section to home titled News":           {3, `✓ Validate plan.*Approval needed: Carry out the plan`},
		"Add a hero-new section to home":                   {0, `it doesn't work.*did you mean "hero"`},
		"What pages exist?":                                {0, `✓ List pages.*Home \(/\)`},
		"Don't delete the blog page":                       {0, `Nothing was changed`},
		"Help":                                             {0, "\n- `create a page called …`"},
	}
	for _, row := range rows(t) {
		expected, ok := want[row[1]]
		require.True(t, ok, "the row %q isn't tested", row[1])
		delete(want, row[1])
		o := b.must(expected.code, "-mode", row[0], "-p", row[1])
		require.Regexp(t, "(?s)"+expected.says, o.out, row[1])
	}
	require.Empty(t, want)
	require.Contains(t, b.must(0, "-p", "show the team page").out, "Members")
	o := b.must(0, "-p", "Create an About page with a hero titled Hello")
	require.Regexp(t, `(?s)✗ Create page “About” · failed.*✓ Create page “About”.*at /about-2`, o.out)
}
