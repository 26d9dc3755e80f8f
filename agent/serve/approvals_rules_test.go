package serve_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
)

// TestTheAuthorizerIsAskedAboutWhatIsDoneWithStandingApprovals: who may see them needn't be allowed
// to end them, or to do anything else.
func TestTheAuthorizerIsAskedAboutWhatIsDoneWithStandingApprovals(t *testing.T) {
	d := newDesk(t, agent.Config{})
	var acts []serve.Action
	d.hcfg.Authorize = func(r *http.Request, item serve.Item, act serve.Action) (string, error) {
		acts = append(acts, act)
		if act == serve.ActionControl {
			return "", errors.New("no")
		}
		return authorize(r, item, act)
	}
	d.restart(say("Done."))
	d.run("s")
	for _, c := range []struct {
		method, target string
		status         int
		acts           []serve.Action
	}{
		{"GET", "/rules?session=s", http.StatusOK, []serve.Action{serve.ActionRead}},
		{"DELETE", "/rules?session=s&tool=cms.touch", http.StatusForbidden,
			[]serve.Action{serve.ActionRead, serve.ActionControl}},
	} {
		acts = nil
		require.Equal(t, c.status, d.ask(asked{user: "ann", method: c.method, target: c.target}).Code, c.method)
		require.Equal(t, c.acts, acts, c.method)
	}
}

func TestTheAuthorizerIsAskedAboutStandingApprovalsThatCannotBeRead(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	d.run("ann/1")
	d.store = &damaged{Store: d.store, log: errors.New("it is damaged")}
	var acts []serve.Action
	d.hcfg.Authorize = func(_ *http.Request, _ serve.Item, act serve.Action) (string, error) {
		acts = append(acts, act)
		return "", errors.New("no")
	}
	d.restart()
	require.Equal(t, http.StatusNotFound, d.ask(asked{user: "ann", method: "GET", target: "/rules?session=ann/1"}).Code)
	require.Equal(t, []serve.Action{serve.ActionRead}, acts)
}
