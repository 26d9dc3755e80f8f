package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// waiting starts a run that waits for the approval of deleting About.
func waiting(t *testing.T) (*bench, outcome) {
	t.Helper()
	b := newBench(t)
	b.must(exitOK, "-p", about)
	o := b.must(exitWaiting, "-session", "s-del", "-p", "delete the abuot page")
	require.Equal(t, []string{"about", "home"}, b.pages())
	return b, o
}

func TestWithoutATerminalAnApprovalIsPrintedWithTheCommandsThatDecideIt(t *testing.T) {
	t.Parallel()
	_, o := waiting(t)
	for _, part := range []string{
		"Approval needed: Delete page “about”\n  tool:  cms.deletePage\n",
		`  why:   the page "About" at /about is deleted, with all its contents (sections: 1)`,
		"  risk:  high\n",
		"  input: {\"page\":\"about\"}\n",
		"go run ./examples/cms -db ", " -resume s-del -id p-", " -decide approve\n", ` -decide reject -reason "why"`,
		` -decide edit -input '{"page":"about"}'`,
	} {
		require.Contains(t, o.out, part)
	}
	require.Contains(t, o.out, "until:")
	require.NotContains(t, o.out, "-decide always", "a high-risk call gets no standing approval")
}

func TestThePrintedCommandResumesTheRun(t *testing.T) {
	t.Parallel()
	b, o := waiting(t)
	for line := range strings.Lines(o.out) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./examples/cms "); ok &&
			strings.HasSuffix(command, "approve") {
			var out, err strings.Builder
			require.Equal(t, exitOK, run(strings.Fields(command), strings.NewReader(""), &out, &err), err.String())
			require.Contains(t, out.String(),
				`I took "abuot" to mean the page "About". I deleted the page "About" (/about).`)
			require.Equal(t, []string{"home"}, b.pages())
			return
		}
	}
	t.Fatal("no command was printed")
}

func TestADecisionIsAppliedByAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		says  []string
		pages []string
	}{
		{[]string{"approve"}, []string{"◦ approved by ann", "✓ Delete page “about”", "I deleted the page"},
			[]string{"home"}},
		{[]string{"reject", "-reason", "We need it."}, []string{"✗ Delete page “about” · rejected",
			"because you rejected it (We need it). Nothing was changed."}, []string{"about", "home"}},
		{[]string{"edit", "-input", `{"page":"home"}`},
			[]string{`✓ Delete page “home”`, `I deleted the page "Home" (/).`}, []string{"about"}},
		{[]string{"suggest", "-reason", "rename it to Old about instead"},
			[]string{"✓ Update page", `is called "Old about" now`}, []string{"about", "home"}},
		{[]string{"suggest", "-reason", "think of something"}, []string{"I don't understand that as a request"},
			[]string{"about", "home"}},
	} {
		b, _ := waiting(t)
		o := b.must(exitOK, append([]string{"-resume", "s-del", "-decide"}, c.args...)...)
		for _, part := range c.says {
			require.Contains(t, o.out, part)
		}
		require.Equal(t, c.pages, b.pages(), "%q", c.args)
	}
}

func TestAnInvalidDecisionRunsNothing(t *testing.T) {
	t.Parallel()
	b, o := waiting(t)
	id := o.pause(t)
	other := b.must(exitWaiting, "-session", "s-other", "-p", "delete Home").pause(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-resume", "s-del", "-id", "p-forged", "-decide", "approve"}, "no pause in this session has this id"},
		{[]string{"-resume", "s-del", "-id", other, "-decide", "approve"}, "no pause in this session has this id"},
		{[]string{"-resume", "s-unknown", "-id", id, "-decide", "approve"}, "unknown"},
		{[]string{"-resume", "s-unknown", "-decide", "approve"}, "unknown"},
		{[]string{"-resume", "s-del", "-id", id, "-decide", "always"}, "high risk"},
		{[]string{"-resume", "s-del", "-id", id, "-decide", "edit", "-input", `{"page":7}`}, "page"},
		{[]string{"-resume", "s-del", "-id", id, "-decide", "edit", "-input", `{"page"`}, "isn't valid JSON"},
		{[]string{"-resume", "s-del", "-id", id, "-decide", "answer", "-input", `"done"`}, "can't be decided"},
	} {
		o := b.must(exitUsage, c.args...)
		require.Contains(t, o.err, c.says)
		require.NotContains(t, o.out, "✓")
		require.Equal(t, []string{"about", "home"}, b.pages(), "%q", c.args)
	}
	b.must(exitOK, "-resume", "s-del", "-id", id, "-decide", "approve")
	b.must(exitOK, "-p", about) // creates the page again
	o = b.must(exitUsage, "-resume", "s-del", "-id", id, "-decide", "approve")
	require.Contains(t, o.err, "cms: agent: ")
	b.must(exitUsage, "-resume", "s-del", "-decide", "approve")
	require.Equal(t, []string{"about", "home"}, b.pages(), "a used decision deletes nothing")
}

func TestANewRequestIsRefusedWhileADecisionIsPending(t *testing.T) {
	t.Parallel()
	b, o := waiting(t)
	again := b.must(exitWaiting, "-session", "s-del", "-p", "list pages")
	require.Contains(t, again.out, "which comes first")
	require.Equal(t, o.pause(t), again.pause(t))
	require.NotContains(t, again.out, "✓")
}

func TestALateDecisionRunsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.must(exitWaiting, "-session", "s", "-expires", "1ns", "-p", "delete Home")
	require.Contains(t, o.out, "until:")
	late := b.must(exitUsage, "-resume", "s", "-decide", "approve")
	require.Contains(t, late.err, "too late")
	require.Equal(t, []string{"home"}, b.pages())
	o = b.must(exitOK, "-continue", "-session", "s")
	require.Contains(t, o.out, `I didn't delete the page "Home": nobody approved it in time. Nothing was changed.`)
	require.Equal(t, []string{"home"}, b.pages())
}

func TestApprovingTheDeletionOfADeletedPageReportsThatItIsGone(t *testing.T) {
	t.Parallel()
	b, _ := waiting(t)
	b.look(func(s *site.Site) {
		_, err := s.DeletePage(t.Context(), "about")
		require.NoError(t, err)
	})
	o := b.must(exitOK, "-resume", "s-del", "-decide", "approve")
	require.Contains(t, o.out, "✗ Delete page “about” · denied")
	require.Contains(t, o.out, `I couldn't delete the page "About": there is no page "about"`)
}

func TestAStandingApprovalAsksNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-p", about)
	o := b.must(exitWaiting, "-session", "s", "-p", "change the slug of About to about-us")
	require.Contains(t, o.out, "links to the old one break")
	require.Contains(t, o.out, "-decide always")
	b.must(exitOK, "-resume", "s", "-decide", "always")
	b.must(exitOK, "-session", "s", "-p", "change the slug of About to us")
	require.Equal(t, []string{"home", "us"}, b.pages())
	b.must(exitWaiting, "-session", "t", "-p", "change the slug of About to about")
}
