package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestEachDecisionIsAuthorized at each path that takes some, with its pause and what is decided.
func TestEachDecisionIsAuthorized(t *testing.T) {
	for path, body := range map[string]func(id string) obj{
		"sessions/decide": func(id string) obj {
			return obj{"session": "s-1", "decisions": []obj{{"id": id, "decision": "edit", "input": Page{"about"}}}}
		},
		"chat": func(id string) obj {
			return obj{"id": "s-1", "trigger": "submit-message",
				"messages":  []obj{{"id": "m", "role": "assistant", "parts": []obj{}}},
				"decisions": []obj{{"id": id, "decision": "edit", "input": Page{"about"}}}}
		},
		"agui": func(id string) obj {
			return obj{"threadId": "s-1", "runId": "r", "messages": []obj{}, "tools": []obj{}, "context": []obj{},
				"state": obj{}, "forwardedProps": obj{}, "resume": []obj{{"interruptId": id, "status": "resolved",
					"payload": obj{"approved": true, "editedArgs": Page{"about"}}}}}
		},
	} {
		var answer error
		var asked []serve.Item
		s := newSite(t, serve.Config{AuthorizeItem: func(_ *http.Request, user string, item serve.Item) error {
			require.Equal(t, "ann", user, path)
			asked = append(asked, item)
			item.Pause.Call.Input[2] = 'X' // a copy
			if item.Decision != nil && len(item.Decision.Input) > 0 {
				item.Decision.Input[2] = 'X'
			}
			if answer == errPanicHere {
				panic("no")
			}
			return answer
		}}, providertest.Call("delete", Page{"home"}), providertest.Say("Done."))
		s.send("ann", "s-1", "Delete it.")
		id := s.pending("ann", "s-1")[0]
		for err, status := range map[error]int{errors.New("only editors"): 403, serve.ErrSignIn: 401, errPanicHere: 403,
			fmt.Errorf("the database: %w", serve.ErrTryAgain): 503, context.DeadlineExceeded: 503} {
			answer = err
			require.Equal(t, status, s.refused("ann", "POST", path, body(id)).Status, "%s: %v", path, err)
			require.Equal(t, []string{id}, s.pending("ann", "s-1"), "nothing was used up")
		}
		require.Equal(t, "delete", asked[0].Tool)
		require.Equal(t, agent.PauseApproval, asked[0].Kind)
		require.Equal(t, id, asked[0].ID)
		require.Equal(t, machine.Edited, asked[0].Decision.Kind)
		require.Empty(t, asked[0].Decision.User)
		require.Empty(t, s.did())

		answer, asked = nil, nil
		unknown := s.refused("ann", "POST", "sessions/decide", obj{"session": "s-1",
			"decisions": []obj{{"id": "p-0", "decision": "approve"}}})
		require.Equal(t, 404, unknown.Status)
		require.Empty(t, asked, "a pause that isn't there can't be asked about")
		status, _ := s.call("ann", "POST", path, body(id))
		require.Contains(t, []int{200, 202}, status, path)
		s.wait("s-1")
		require.Equal(t, []string{"about"}, s.did(), path)
		require.Len(t, asked, 1)
	}
}

var errPanicHere = errors.New("panics")

// TestWhatCannotBeToldNowIsNoRefusal at each path: an error of the host's own database, when it
// decides who may do what, isn't "no", and never yes.
func TestWhatCannotBeToldNowIsNoRefusal(t *testing.T) {
	var answer error
	s := newSite(t, serve.Config{Authorize: func(r *http.Request, _ string, a serve.Action) (string, error) {
		return r.Header.Get("User"), answer
	}}, providertest.Call("delete", Page{"home"}))
	s.send("ann", "s-1", "Delete it.")
	id := s.pending("ann", "s-1")[0]
	for err, status := range map[error]int{
		serve.ErrTryAgain: 503, fmt.Errorf("roles: %w", context.DeadlineExceeded): 503,
		fault.New(fault.RateLimited, "x"): 503,
		errors.New("unknown"):             403, fault.New(fault.Permanent, "x"): 403, fault.New(fault.Denied, "x"): 403,
	} {
		answer = err
		for _, r := range append(routes("s-1", id), [3]any{"GET", "sessions", nil},
			[3]any{"POST", "sessions/send", obj{"session": "s-1", "text": "x"}}) {
			p := s.refused("ann", r[0].(string), r[1].(string), r[2])
			require.Equal(t, status, p.Status, "%s: %v", r[1], err)
			require.NotContains(t, p.Detail, "roles")
		}
	}
	answer = nil
	require.Equal(t, []string{id}, s.pending("ann", "s-1"))
	require.Empty(t, s.did())
}

func TestAWidenOrAnInputThatCannotTellIsNoRefusal(t *testing.T) {
	var widen, input error
	s := newSite(t, serve.Config{Widen: func(*http.Request, serve.Access) error { return widen },
		Input: func(*http.Request, *agent.Input) error { return input }}, providertest.Say("a"), providertest.Say("b"))
	s.send("ann", "s-1", "Hello.")
	for err, status := range map[error]int{serve.ErrTryAgain: 503, errors.New("no"): 404} {
		widen = err
		require.Equal(t, status, s.refused("bob", "GET", "sessions/messages?session=s-1", nil).Status)
	}
	for err, status := range map[error]int{serve.ErrTryAgain: 503, errors.New("no"): 403} {
		input = err
		require.Equal(t, status, s.refused("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}).Status)
	}
}

// failingStore fails with what reads the heads and the logs of sessions.
type failingStore struct {
	*journal.MapStore
	err atomic.Pointer[error]
}

func (f *failingStore) Head(ctx context.Context, session string) (journal.Head, error) {
	if err := f.err.Load(); err != nil {
		return journal.Head{}, *err
	}
	return f.MapStore.Head(ctx, session)
}

// TestAnErrorOfTheStoreIsNeverAMissingSession at any path.
func TestAnErrorOfTheStoreIsNeverAMissingSession(t *testing.T) {
	store := &failingStore{MapStore: &journal.MapStore{}}
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(providertest.Call("delete", Page{"home"})),
		Journal: store}, serve.Config{})
	s.send("ann", "s-1", "Delete it.")
	id := s.pending("ann", "s-1")[0]
	for err, status := range map[error]int{errors.New("prepared statement already exists"): 500,
		fault.New(fault.Transient, "connection refused"): 503} {
		store.err.Store(&err)
		for _, r := range routes("s-1", id) {
			require.Equal(t, status, s.refused("ann", r[0].(string), r[1].(string), r[2]).Status, "%s: %v", r[1], err)
		}
	}
	store.err.Store(nil)
	require.Equal(t, 404, s.refused("ann", "GET", "events?session=s-9", nil).Status)
}

// TestAnAuthorizerOfApprovalsThatCannotTellHidesNothing: a list isn't shorter because of it.
func TestAnAuthorizerOfApprovalsThatCannotTellHidesNothing(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	deny := map[serve.Action]error{}
	d.hcfg.Authorize = func(_ *http.Request, _ serve.Item, a serve.Action) (string, error) { return "ann", deny[a] }
	h, err := serve.Approvals(d.hcfg)
	require.NoError(t, err)
	d.h = h
	decide := func() int {
		status, _, _ := d.decide("ann", `{"session":"s","id":"`+id+`","decision":"approve"}`)
		return status
	}
	for err, status := range map[error][3]int{serve.ErrTryAgain: {503, 503, 503}, errors.New("no"): {200, 404, 403}} {
		deny = map[serve.Action]error{serve.ActionList: err}
		require.Equal(t, status[0], d.get("ann", "/", new(obj)))
		deny = map[serve.Action]error{serve.ActionRead: err}
		require.Equal(t, status[1], d.get("ann", itemPath("s", id), new(obj)))
		require.Equal(t, status[1], decide())
		deny = map[serve.Action]error{serve.ActionDecide: err}
		require.Equal(t, status[2], decide())
	}
	require.Empty(t, d.done.done())
	deny = nil
	require.Equal(t, 200, decide())
}
