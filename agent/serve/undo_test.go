package serve_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An undoing is the answer of sessions/undo.
type undoing struct {
	Session, Run  string
	Undone, Stays []struct{ Call, Name, Title, Why string }
	Pruned        bool
}

// titles returns what an answer lists, with the reasons.
func (u undoing) titles() (undone, stays []string) {
	for _, c := range u.Undone {
		undone = append(undone, c.Title)
	}
	for _, c := range u.Stays {
		stays = append(stays, c.Title+": "+c.Why)
	}
	return undone, stays
}

// newPages returns a site with a tool that can undo, and the pages that there are.
func newPages(t *testing.T, steps ...providertest.Step) (*site, map[string]bool) {
	t.Helper()
	pages := make(map[string]bool)
	return newSiteOf(t, agent.Config{Provider: providertest.Script(steps...), Tools: []tools.Tool{
		tools.Func[Page, string]{
			Spec: tools.Spec{Name: "create_page", Description: "Create a page."},
			Run: func(_ context.Context, p Page) (string, error) {
				pages[p.Page] = true
				return "created", nil
			},
			Undo: func(_ context.Context, p Page, _ string) error {
				if p.Page == "locked" {
					return errors.New("somebody edits it")
				}
				delete(pages, p.Page)
				return nil
			},
		},
		tools.New(tools.Spec{Name: "send_mail", Description: "Send a mail."},
			func(context.Context, Page) (string, error) { return "sent", nil }),
	}}, serve.Config{}), pages
}

func creates(pages ...string) providertest.Step {
	var calls []providertest.CallSpec
	for _, p := range pages {
		calls = append(calls, providertest.CallSpec{Tool: "create_page", Input: Page{p}})
	}
	return providertest.Calls(calls...)
}

func TestAnUndoSaysBeforeAndAfterWhatStays(t *testing.T) {
	s, pages := newPages(t, creates("a"), providertest.Call("send_mail", Page{"a"}),
		providertest.Call("look", Page{"a"}), creates("b"), providertest.Say("Done."))
	s.send("ann", "s-1", "Create pages.")
	require.Len(t, pages, 2)

	var before, after, again undoing
	s.must("ann", "GET", "sessions/undo?session=s-1", nil, &before)
	require.Len(t, pages, 2, "nothing is undone yet")
	undone, stays := before.titles()
	require.Equal(t, []string{"Create page “b”", "Create page “a”"}, undone)
	require.Equal(t, []string{"Send mail “a”: the tool can't undo"}, stays)
	require.Equal(t, "s-1", before.Session)

	s.must("ann", "POST", "sessions/undo", obj{"session": "s-1", "run": before.Run}, &after)
	require.Equal(t, before, after)
	require.Empty(t, pages)

	s.must("ann", "GET", "sessions/undo?session=s-1&run="+before.Run, nil, &again)
	require.Empty(t, again.Undone, "it was undone")
	require.NotNil(t, again.Undone)
}

func TestWhatAnUndoLeavesIsShownAfterwards(t *testing.T) {
	s, _ := newPages(t, creates("a"), creates("locked"), creates("b"), providertest.Say("Done."))
	s.send("ann", "s-1", "Create pages.")
	var got undoing
	s.must("ann", "POST", "sessions/undo", obj{"session": "s-1"}, &got)
	undone, stays := got.titles()
	require.Equal(t, []string{"Create page “b”"}, undone)
	require.Equal(t, []string{"Create page “locked”: somebody edits it", "Create page “a”: not tried"}, stays)
	all := events(t, s.request("ann", "GET", "view?session=s-1", nil), says(`"code":"undone"`))
	end := string(all[len(all)-1].Data)
	require.Contains(t, end, `"undoable":true`)
	require.Contains(t, end, `"undone":true`)
	require.Contains(t, end, `"stays":[{"title":"Create page “locked”","why":"somebody edits it"},`+
		`{"title":"Create page “a”","why":"not tried"}]`)
}

func TestNothingIsUndoneWhileARunIsOpen(t *testing.T) {
	s, pages := newPages(t, creates("a"), providertest.Call("delete", Page{"a"}))
	require.Equal(t, serve.CodeUnknown, s.refused("ann", "GET", "sessions/undo?session=s-1", nil).Code)
	s.send("ann", "s-1", "Create it, then delete it.")
	require.Equal(t, serve.CodePaused, s.refused("ann", "GET", "sessions/undo?session=s-1", nil).Code)
	p := s.refused("ann", "POST", "sessions/undo", obj{"session": "s-1"})
	require.Equal(t, serve.CodePaused, p.Code)
	require.Equal(t, http.StatusConflict, p.Status)
	require.Len(t, pages, 1)
}

func TestACopyIsNotUndone(t *testing.T) {
	s, pages := newPages(t, creates("a"), providertest.Say("Done."))
	s.send("ann", "s-1", "Create it.")
	var copied struct{ Session string }
	s.must("ann", "POST", "sessions/fork", obj{"session": "s-1"}, &copied)
	p := s.refused("ann", "POST", "sessions/undo", obj{"session": copied.Session})
	require.Equal(t, serve.CodeBad, p.Code)
	require.Contains(t, p.Detail, "a copy")
	require.Equal(t, serve.CodeBad, s.refused("ann", "POST", "sessions/undo", obj{"session": "s-1", "run": "r-9"}).Code)
	require.Len(t, pages, 1)
}
