package serve_test

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/serve"
)

// planned returns a desk with a run of a plan, tom/plan, which waits for approval.
func planned(t *testing.T) (*desk, *plan.Runner, *plan.Plan) {
	t.Helper()
	d := newDesk(t, agent.Config{})
	r, err := plan.New(plan.Config{Agent: d.a})
	require.NoError(t, err)
	d.hcfg.Plans = r
	d.h, err = serve.Approvals(d.hcfg)
	require.NoError(t, err)
	p := &plan.Plan{Title: "Two pages go", Nodes: []plan.Node{
		{ID: "a", Tool: remove.Name, Input: map[string]any{"id": "home"}},
		{ID: "b", Tool: remove.Name, Input: map[string]any{"id": plan.From("a")}},
	}}
	_, err = r.Start(t.Context(), "tom/plan", p)
	require.NoError(t, err)
	return d, r, p
}

func openItems(t *testing.T, store journal.Store, f approvals.Filter) (items []approvals.Open) {
	t.Helper()
	for o, err := range approvals.List(t.Context(), store, f) {
		require.NoError(t, err)
		items = append(items, o)
	}
	return items
}

func TestAPlanIsListedShownAndApproved(t *testing.T) {
	d, r, p := planned(t)
	require.Empty(t, openItems(t, d.store, approvals.Filter{}))
	list := openItems(t, d.store, approvals.Filter{Plans: true})
	require.Len(t, list, 1)
	require.Equal(t, "plan", list[0].Tool)
	require.Equal(t, agent.PauseApproval, list[0].Kind)
	require.Contains(t, list[0].Reason, `The plan “Two pages go” has 2 steps`)
	id := list[0].ID

	res := d.ask(asked{user: "tom", method: "GET", target: "/"})
	require.Contains(t, res.Body.String(), id)
	res = d.ask(asked{user: "tom", method: "GET", target: "/item?session=tom/plan&id=" + url.QueryEscape(id)})
	require.Equal(t, http.StatusOK, res.Code, res.Body)
	require.Contains(t, res.Body.String(), `"title":"Two pages go"`)
	require.Equal(t, http.StatusNotFound,
		d.ask(asked{user: "tom", method: "GET", target: "/item?session=tom/plan&id=plan+other"}).Code)
	require.Equal(t, http.StatusNotFound,
		d.ask(asked{user: "", method: "GET", target: "/item?session=tom/plan&id=" + url.QueryEscape(id)}).Code)

	status, code, _ := d.decide("eve", body("tom/plan", id, "approve"))
	require.Equal(t, 403, status, code)
	status, code, message := d.decide("tom", body("tom/plan", id, "answer", "value", 1))
	require.Equal(t, serve.CodeBad, code, status)
	require.Contains(t, message, "a plan can be approved, rejected, or sent back")
	status, _, message = d.decide("tom", body("tom/plan", id, "approve"))
	require.Equal(t, 200, status, message)
	_, code, _ = d.decide("ann", body("tom/plan", id, "reject", "reason", "no"))
	require.Equal(t, serve.CodeUsed, code)
	require.Equal(t, []serve.Decided{{Session: "tom/plan", ID: id, Kind: "approve", User: "tom"}}, d.decided)

	ctx, stop := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { r.Serve(ctx) })
	defer served.Wait()
	defer stop()
	for ev, err := range r.Watch(t.Context(), "tom/plan", 0) {
		require.NoError(t, err)
		if p, ok := ev.(*plan.Paused); ok && len(p.Pending[0].Path) > 0 {
			break
		}
	}
	s, err := r.State(t.Context(), "tom/plan")
	require.NoError(t, err)
	require.Equal(t, p.Hash(), s.Approved)
	_, code, _ = d.decide("tom", body("tom/plan", id, "approve"))
	require.Equal(t, serve.CodeUnknown, code)
	list = openItems(t, d.store, approvals.Filter{Plans: true})
	require.Len(t, list, 1, "the plan has answered for the first; the input of the second wasn't in it")
	require.Equal(t, "tom/plan", list[0].Session)
	require.Equal(t, remove.Name, list[0].Tool)
	status, _, message = d.decide("tom", body("tom/plan", list[0].ID, "approve"))
	require.Equal(t, 200, status, message)
	for _, err := range r.Watch(t.Context(), "tom/plan", 0) {
		require.NoError(t, err)
	}
	require.Len(t, d.done.done(), 2)
}

func TestAPlanIsNoItemWithoutPlans(t *testing.T) {
	d, _, _ := planned(t)
	list := openItems(t, d.store, approvals.Filter{Plans: true})
	d.hcfg.Plans = nil
	var err error
	d.h, err = serve.Approvals(d.hcfg)
	require.NoError(t, err)
	require.NotContains(t, d.ask(asked{user: "tom", method: "GET", target: "/"}).Body.String(), list[0].ID)
	_, code, _ := d.decide("tom", body("tom/plan", list[0].ID, "approve"))
	require.Equal(t, serve.CodeUnknown, code)
}
