package serve_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/tools"
)

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
