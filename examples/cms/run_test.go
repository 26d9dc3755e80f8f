package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
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
	require.Contains(t, o.err, "This stand-in is a script, not a model")
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
	require.Contains(t, o.out, "This stand-in is a script", "it comes first")
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

// Each row is tried on a site of its own.
func TestTheRowsOfTheReadmeWork(t *testing.T) {
	t.Parallel()
	want := map[string]struct {
		code int
		says string
	}{
		"Create an About page with a hero titled Hello":        {0, `at /about.*It is a draft`},
		"Rename Services to Offers":                            {3, `why:   visitors see the new name “Offers”`},
		"Delete the home page":                                 {3, `Approval needed: Delete page “Home”`},
		"Change the address of Services to offers":             {3, `why:   the address .* links to the old one break`},
		"Change the title of the landing page to Good morning": {0, "Do you mean Home.*\n- `Change the title of the \"home\""},
		"Create a contact page with a form":                    {3, `Question: .*1\. .*2\. `},
		"Add a hero section to Home titled News":               {3, `✓ Validate plan.*Approval needed: Carry out the plan`},
		"Add a hero-new section to Home":                       {0, `it doesn't work.*did you mean "hero"`},
		"What pages exist?":                                    {0, `✓ List pages.*Home \(/\)`},
		"Run the scenario \"definition in use\"":               {3, `Approval needed: .*hero`},
		"Run the scenario \"ten steps\"":                       {0, `Step 10 is at /step-10`},
		"Run the scenario \"hundred calls\"":                   {0, `I made a hundred calls`},
		"Run the scenario \"broken tool\"":                     {0, `(?:I couldn't read .*connection refused.*){3}`},
		"Don't delete the Blog page":                           {0, `I changed nothing`},
		"Help":                                                 {0, "\n- `What pages exist\\?`"},
	}
	for _, row := range rows(t) {
		expected, ok := want[row[1]]
		require.True(t, ok, "the row %q isn't tested", row[1])
		delete(want, row[1])
		o := newBench(t).must(expected.code, "-mode", row[0], "-p", row[1])
		require.Regexp(t, "(?s)"+expected.says, o.out, row[1])
	}
	require.Empty(t, want)
}

// The third failure in a row opens the breaker of the tool, which refuses the next call at once.
func TestAToolThatIsBrokenIsRefused(t *testing.T) {
	t.Parallel()
	o := newBench(t).run("Run the scenario \"broken tool\"\nFetch http://"+model.NobodyAnswers+"/4\n", "chat")
	require.Zero(t, o.status, o.err)
	require.Regexp(t, `I couldn't read .*/4: .*temporarily unavailable.* Try again in \d+s`, o.out)
}

func TestATakenAddressIsCorrected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(0, "-p", about)
	require.Regexp(t, `(?s)✗ Create page “About” · failed.*✓ Create page “About”.*at /about-2`, b.must(0, "-p", about).out)
}
