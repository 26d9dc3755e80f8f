package main

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// open lists the pending decisions.
func (b *bench) open(args ...string) (all []opened) {
	b.t.Helper()
	o := b.must(exitOK, append([]string{"approvals", "-json"}, args...)...)
	require.NoError(b.t, json.Unmarshal([]byte(o.out), &all), o.out)
	return all
}

func TestPendingDecisionsAreListedAcrossSessions(t *testing.T) {
	t.Parallel()
	b, first := waiting(t)
	b.must(exitWaiting, "-session", "s-home", "-expires", "1ns", "-p", "delete Home", "-by", "bob")
	o := b.must(exitOK, "approvals")
	for _, part := range []string{
		"Approval needed: Delete page “about”\n", "asked: by ann, at ", "in session s-del\n",
		"approvals approve|reject|suggest|edit " + first.pause(t) + "\n",
		"asked: by bob, at ", "It can't be decided any more. To continue without it:\n",
	} {
		require.Contains(t, o.out, part)
	}
	all := b.open()
	require.Len(t, all, 2)
	require.Equal(t, "s-del", all[0].Session)
	require.Equal(t, "cms.deletePage", all[0].Tool)
	require.Equal(t, "Delete page “about”", all[0].Title)
	require.JSONEq(t, `{"page":"about"}`, string(all[0].Input))
	require.Equal(t, "ann", all[0].By)
	require.Contains(t, all[0].Reason, "is deleted")
	require.False(t, all[0].Since.IsZero())
	require.Equal(t, 2*time.Minute, all[0].Expires.Sub(all[0].Since).Round(time.Second))
	require.True(t, all[1].Expired)
	require.Len(t, b.open("-session", "s-home"), 1)
	require.Contains(t, b.must(exitUsage, "approvals", "approve", all[1].ID).err, "too late")
	require.Equal(t, []string{"about", "home"}, b.pages())
}

func TestWithoutPendingDecisionsTheListIsEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Contains(t, b.must(exitOK, "approvals").out, "There are no pending decisions.")
	require.Equal(t, "[]\n", b.must(exitOK, "approvals", "-json").out)
	require.Contains(t, b.must(exitOK, "approvals", "rules").out, "There are no standing approvals.")
	require.Equal(t, "[]\n", b.must(exitOK, "approvals", "rules", "-json").out)
}

func TestADecisionByIDResumesTheRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string // "0" is replaced by the id
		says  string
		pages []string
	}{
		{[]string{"approve", "0", "-by", "eve"}, "◦ approved by eve", []string{"home"}},
		{[]string{"-reason", "We need it.", "reject", "0"}, "because you rejected it (We need it).",
			[]string{"about", "home"}},
		{[]string{"edit", "-input", `{"page":"home"}`, "0"}, `I deleted the page "Home" (/).`, []string{"about"}},
		{[]string{"suggest", "0", "-reason", "rename it to Old about instead"}, `is called "Old about" now`,
			[]string{"about", "home"}},
	} {
		b, o := waiting(t)
		id := o.pause(t)
		args := []string{"approvals"}
		for _, a := range c.args {
			if a == "0" {
				a = id
			}
			args = append(args, a)
		}
		require.Contains(t, b.must(exitOK, args...).out, c.says)
		require.Equal(t, c.pages, b.pages(), "%q", args)
		require.Contains(t, b.must(exitUsage, "approvals", "approve", id).err, "it may be decided already")
		require.Equal(t, c.pages, b.pages(), "a used id runs nothing")
	}
}

func TestOfConcurrentDecisionsTheFirstCounts(t *testing.T) {
	t.Parallel()
	b, o := waiting(t)
	id := o.pause(t)
	const processes = 3
	outs, statuses := make([]string, processes), make([]int, processes)
	var all sync.WaitGroup
	for i := range processes {
		cmd := b.process("", "approvals", "approve", id)
		all.Go(func() {
			out, _ := cmd.CombinedOutput() // the exit status is checked below
			outs[i], statuses[i] = string(out), cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	deleted, told := 0, 0
	for i, status := range statuses {
		switch status {
		case exitOK:
			deleted++
			require.Contains(t, outs[i], `I deleted the page "About" (/about).`)
		case exitUsage:
			told++
			require.Contains(t, outs[i], "decided")
		}
	}
	require.Equal(t, [2]int{1, processes - 1}, [2]int{deleted, told}, "%q", outs)
	require.Equal(t, []string{"home"}, b.pages())
}

func TestADecisionInJSONReportsTheResultOfTheRun(t *testing.T) {
	t.Parallel()
	b, o := waiting(t)
	out := b.must(exitOK, "approvals", "approve", o.pause(t), "-json").out
	require.JSONEq(t, `{"session":"s-del","id":"`+o.pause(t)+`","decision":"approve","status":0}`, out)
}

func TestAStandingApprovalIsListedAndRevoked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-p", about)
	id := b.must(exitWaiting, "-session", "s", "-p", "change the slug of About to us").pause(t)
	b.must(exitOK, "approvals", "always", id)
	require.Contains(t, b.must(exitOK, "approvals", "rules").out, "cms.updatePage in session s, by ann, since ")
	b.must(exitOK, "-session", "s", "-p", "change the slug of About to about-us")
	require.Contains(t, b.must(exitOK, "approvals", "revoke", "cms.updatePage").out,
		"cms.updatePage needs approval again in session s.")
	b.must(exitWaiting, "-session", "s", "-p", "change the slug of About to us")
	b.must(exitUsage, "approvals", "revoke", "cms.updatePage")
	require.Equal(t, []string{"about-us", "home"}, b.pages())
}
