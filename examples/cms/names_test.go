package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// named is a bench with two pages: Members, described as "team, people, staff", and About.
func named(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.must(exitOK, "-p",
		"create a page called Members, then describe it as team, people, staff, then create an About page")
	require.Equal(t, []string{"about", "home", "members"}, b.pages())
	return b
}

// answers makes the requests in one dialogue and requires the text in each answer.
func (b *bench) answers(says map[string]string) {
	b.t.Helper()
	requests := slices.Sorted(maps.Keys(says))
	o := b.chat(strings.Join(requests, "\n"))
	require.Equal(b.t, exitOK, o.status, o.err)
	answers := strings.Split(o.out, "\n> ")[1:]
	require.Len(b.t, answers, len(requests)+1) // plus the prompt at which the input ended
	for i, request := range requests {
		require.Contains(b.t, answers[i], says[request], request)
	}
}

func TestAPageIsFoundByAWordOfItsDescription(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-p", "create a page called Members")
	require.Contains(t, b.must(exitOK, "-p", "Show the team page").out, `I found no page like "team".`)
	o := b.must(exitOK, "-p", "describe the Members page as team, people, staff")
	require.Contains(t, o.out, `The page "Members" is described as "team, people, staff" now.`)
	o = b.must(exitOK, "-p", "Show the team page")
	require.Contains(t, o.out, `✓ Find resource “team”`)
	require.Contains(t, o.out, `✓ Get page “members”`)
	require.Contains(t, o.out,
		`I took "team" to mean the page "Members". The page "Members" is at /members. It is described as "team, people, staff".`)
}

func TestDeletingAMisspelledNameAsksForApproval(t *testing.T) {
	t.Parallel()
	b := named(t)
	o := b.must(exitWaiting, "-session", "s", "-p", "Delete abuot")
	require.Contains(t, o.out, "Approval needed: Delete page “about”\n")
	require.Contains(t, o.out, `why:   the page "About" at /about is deleted`)
	require.Equal(t, []string{"about", "home", "members"}, b.pages())
	o = b.must(exitOK, "-resume", "s", "-decide", "approve")
	require.Contains(t, o.out, `I took "abuot" to mean the page "About". I deleted the page "About" (/about).`)
	require.Equal(t, []string{"home", "members"}, b.pages())

	o = b.must(exitOK, "-p", "Delete abuot") // it is deleted
	require.Contains(t, o.out, `I found no page like "abuot".`)
	require.Equal(t, []string{"home", "members"}, b.pages())
}

func TestPagesAreFoundBySimilarNames(t *testing.T) {
	t.Parallel()
	b := named(t)
	b.must(exitOK, "-p",
		`create a page called Über uns, then create a page called Öffnungszeiten, then create a page called "Price lists"`)
	b.answers(map[string]string{
		"show the staff":         `The page "Members" is at`,
		"show teams":             `The page "Members" is at`,
		"show membres":           `The page "Members" is at`,
		"show the UEBER UNS":     `The page "Über uns" is at`,
		"show uber uns":          `The page "Über uns" is at`,
		"show ueber-uns":         `The page "Über uns" is at`,
		"show Oeffnungszeit":     `The page "Öffnungszeiten" is at`,
		"show öffnungszeiten":    `The page "Öffnungszeiten" is at`,
		"show the price list":    `The page "Price lists" is at`,
		"preview the front page": "Home (/, en)",
		"show the blog page":     `I found no page like "blog". There is the collection "Blog" (blog).`,
		"find zzzz":              `I found nothing like "zzzz".`,
	})
}

func TestAPageIsFoundByItsNewNameAndNotByItsOldOne(t *testing.T) {
	t.Parallel()
	b := named(t)
	b.must(exitOK, "-yes", "-p",
		"rename Members to Zoology, then change the slug of Zoology to fauna, then describe it as animals")
	b.answers(map[string]string{
		"show team":             `I found no page like "team".`,
		"show Members":          `I found no page like "Members".`,
		"show staff":            `I found no page like "staff".`,
		"show zoolgy":           `The page "Zoology" is at /fauna.`,
		"show fauna":            `The page "Zoology" is at /fauna.`,
		"show the animals page": `The page "Zoology" is at /fauna.`,
	})
}

func TestTheModelAsksWhichOfTwoPagesIsMeant(t *testing.T) {
	t.Parallel()
	b := named(t)
	b.must(exitOK, "-p", "create a page called Squad, then describe it as team")
	o := b.must(exitOK, "-session", "s", "-p", "delete the team page")
	require.Regexp(t,
		`"team" could be "(Members" \(members\) or "Squad" \(squad|Squad" \(squad\) or "Members" \(members)\)\. Say which one, by the name in brackets\.`, o.out)
	require.NotContains(t, o.out, "cms.deletePage")
	require.Contains(t, b.must(exitWaiting, "-session", "s", "-p", "delete squad").out,
		`the page "Squad" at /squad is deleted`)
	require.Equal(t, []string{"about", "home", "members", "squad"}, b.pages())
}

func TestAnUncertainMatchIsNotRenamed(t *testing.T) {
	t.Parallel()
	b := named(t)
	o := b.must(exitOK, "-p", "rename stuff to X")
	require.Contains(t, o.out, `I'm not sure which page is "stuff": "Members" (members) fits best.`)
	require.NotContains(t, o.out, "cms.updatePage")
	require.Contains(t, b.must(exitOK, "-p", "show stuff").out,
		`I took "stuff" to mean the page "Members", and am not sure of that. The page "Members" is at`)
}

func TestAPageDeletedByAnotherProcessIsNeitherUsedNorFound(t *testing.T) {
	t.Parallel()
	b := named(t)
	cmd := b.process("tool_started cms.getPage", "chat", "-session", "s")
	cmd.Env = append(cmd.Env, typedVar+"=show the team page\nshow the team page\nshow crew\n")
	h := b.start(cmd, heldMark) // it has looked up the page and is about to read it
	b.must(exitOK, "-yes", "-p", "delete Members, then create a page called Band, then describe it as crew, musicians")
	require.NoError(t, h.stdin.Close())
	out, err := io.ReadAll(h.out)
	require.NoError(t, err)
	require.Equal(t, exitOK, h.ended(), h.err.String())
	require.Contains(t, string(out), `I couldn't read the page "Members": there is no page "members"`)
	require.Contains(t, string(out), `I found no page like "team".`)
	require.Contains(t, string(out), `I took "crew" to mean the page "Band".`)
}

func TestProcessesFindWhatTheOthersWrite(t *testing.T) {
	t.Parallel()
	const processes = 3
	b := named(t)
	var all sync.WaitGroup
	outs, errs := make([]string, processes), make([]error, processes)
	for i, word := range []string{"ants", "bees", "crows"} {
		cmd := b.process("", "-p",
			"create a page called P"+word+", then describe it as "+word+", then show the "+word+
				" page, then rename it to Old "+word+", then show "+word)
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			outs[i], errs[i] = string(out), err
		})
	}
	all.Wait()
	for i := range outs {
		require.NoError(t, errs[i], outs[i])
	}
	for _, word := range []string{"ants", "bees", "crows"} {
		require.Contains(t, b.must(exitOK, "-p", "show the "+word+" page").out, `The page "Old `+word+`" is at /p`+word)
	}
	b.look(func(s *site.Site) {
		p, err := s.GetPage(t.Context(), "pants", "")
		require.NoError(t, err)
		require.Equal(t, "ants", p.Description)
	})
}
