package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/tools"
)

// waiting is a store of heads with open matters, as they are without a log.
func waiting(t *testing.T, open map[string][]journal.Open) journal.Store {
	t.Helper()
	store := &journal.MapStore{}
	for session, o := range open {
		require.NoError(t, store.Append(context.Background(),
			journal.Append{Session: session, Head: &journal.HeadUpdate{Status: "paused", Open: o}}))
	}
	return store
}

func TestPagesShowWhatOneMaySeeAndTellNoOtherName(t *testing.T) {
	open := map[string][]journal.Open{}
	var want []string
	for i := range 25 {
		open[fmt.Sprintf("ann/%02d", i)] = []journal.Open{{ID: fmt.Sprint("p-a", i)}}
		name := fmt.Sprintf("tom/%02d %%?#&", i)
		open[name] = []journal.Open{{ID: fmt.Sprint("p-t", i)}, {ID: fmt.Sprint("p-u", i)}}
		want = append(want, name, name)
	}
	d := newDesk(t, agent.Config{})
	d.store = waiting(t, open)
	d.restart()
	var got []string
	after, pages := "", 0
	for {
		var list struct {
			Items []approvals.Open
			Next  string
		}
		require.Equal(t, 200, d.get("tom", "/?limit=5&after="+url.QueryEscape(after), &list))
		pages++
		require.LessOrEqual(t, len(list.Items), 6, "a page ends with a session")
		for _, o := range list.Items {
			got = append(got, o.Session)
		}
		if after = list.Next; after == "" {
			break
		}
		require.Equal(t, list.Items[len(list.Items)-1].Session, after)
	}
	require.Equal(t, want, got)
	require.Equal(t, 9, pages, "the last of them isn't empty")
	var none struct{ Items []approvals.Open }
	require.Equal(t, 200, d.get("mallory", "/", &none))
	require.NotNil(t, none.Items)
	require.Empty(t, none.Items)
}

func TestTheHandlerListsQuestionsByWhoAnswers(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Doc) (string, error) {
		return "", tools.Suspend{For: "lawyer", Prompt: "May we?"}
	})
	d := newDesk(t, agent.Config{Tools: []tools.Tool{ask}}, call("ask", "home"), say("Done."))
	d.hcfg.Authorize = func(_ *http.Request, item serve.Item, _ serve.Action) (string, error) {
		if item.For != "lawyer" {
			return "", errors.New("no")
		}
		return "lawyer", nil
	}
	d.restart(call("ask", "home"), say("Done."))
	id := d.run("s")[0].ID
	get := func(target string) string {
		return d.ask(asked{user: "lawyer", method: "GET", target: target}).Body.String()
	}
	require.JSONEq(t, `{"items":[]}`, get("/"))
	require.Contains(t, get("/?for=lawyer"), `"for":"lawyer"`)
	require.Contains(t, get("/item?session=s&id="+id), `"for":"lawyer"`)
}

func TestAnItemWhoseDecisionDoesNotFitIsOpenAgainUnderAnotherID(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	old := d.run("s")[0]
	wide := remove // the process with the handler has another version of the tool
	wide.Schema = []byte(`{"properties":{"id":{"enum":["home","blog"]}}}`)
	strict := remove
	strict.Schema = []byte(`{"properties":{"id":{"enum":["home"]}}}`)
	d.cfg.Tools = []tools.Tool{d.done.tool(wide)}
	d.restart()
	status, _, _ := d.decide("ann", body("s", old.ID, "edit", "input", Doc{"blog"}))
	require.Equal(t, 200, status)

	cfg := d.cfg
	cfg.Tools = []tools.Tool{d.done.tool(strict)}
	worker, err := agent.New(cfg)
	require.NoError(t, err)
	in := agent.Continue("s")
	in.AcceptChanges = true
	res, err := worker.Run(t.Context(), in)
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, agent.Paused, res.Status)
	now := res.Pending[0]

	var open []approvals.Open
	for o, err := range approvals.List(t.Context(), d.store, approvals.Filter{}) {
		require.NoError(t, err)
		open = append(open, o)
	}
	require.Len(t, open, 1)
	require.Equal(t, now.ID, open[0].ID)
	require.False(t, open[0].Sent)
	var item approvals.Detail
	require.Equal(t, 200, d.get("ann", itemPath("s", now.ID), &item))
	require.Equal(t, approvals.StateOpen, item.State)
	require.Equal(t, []string{old.ID}, item.Pause.Replaces)
	require.Contains(t, item.Pause.Refused, "home", "it says what would be right")
	item = approvals.Detail{}
	require.Equal(t, 200, d.get("ann", itemPath("s", old.ID), &item))
	require.Equal(t, approvals.StateReplaced, item.State)
	require.Equal(t, now.ID, item.NewID)

	w := d.ask(asked{user: "ann", method: "POST", target: "/decide", body: body("s", old.ID, "approve")})
	require.Equal(t, 409, w.Code)
	var refused problem
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &refused))
	require.Equal(t, serve.CodeReplaced, refused.Code)
	require.Equal(t, now.ID, refused.NewID)
	status, code, _ := d.decide("eve", body("s", old.ID, "approve"))
	require.Equal(t, 403, status)
	require.Equal(t, serve.CodeForbidden, code, "who may not decide isn't told the new id")
	require.Equal(t, 0, d.inbox("s"))

	status, _, _ = d.decide("ann", body("s", now.ID, "approve"))
	require.Equal(t, 200, status)
	d.restart(say("Done."))
	in.AcceptChanges = true
	res, err = d.a.Run(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, []string{"home"}, d.done.done())
	item = approvals.Detail{}
	require.Equal(t, 200, d.get("ann", itemPath("s", old.ID), &item))
	require.Equal(t, approvals.StateDecided, item.State)
}
