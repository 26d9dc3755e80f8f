package main

import (
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
