package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestTheTableOfAttacksOnApprovals sends what must not be taken. In each case the answer says why,
// nothing is sent to the session, nothing is recorded, nothing runs, and who may decide still can.
func TestTheTableOfAttacksOnApprovals(t *testing.T) {
	const session = "tom/1"
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	post := func(body string) asked { return asked{user: "ann", method: "POST", target: "/decide", body: body} }
	with := func(q asked, key, value string) asked {
		q.header = map[string]string{key: value}
		return q
	}
	by := func(user string, q asked) asked {
		q.user = user
		return q
	}
	type given struct{ id, foreign string } // of the session, and of another
	for name, c := range map[string]struct {
		q      func(g given) asked
		status int
		code   string
	}{
		"a forged id": {func(g given) asked {
			return post(body(session, "p-0123456789abcdefghijklmn", "approve"))
		}, 404, serve.CodeUnknown},
		"an id with its case": {func(g given) asked {
			return post(body(session, strings.ToUpper(g.id), "approve"))
		}, 404, serve.CodeUnknown},
		"an id and a space": {func(g given) asked {
			return post(body(session, g.id+" ", "approve"))
		}, 404, serve.CodeUnknown},
		"the call's id": {func(g given) asked {
			return post(body(session, "r-1.1.0", "approve"))
		}, 404, serve.CodeUnknown},
		"no id": {func(g given) asked {
			return post(body(session, "", "approve"))
		}, 400, serve.CodeMalformed},
		"another session's id": {func(g given) asked {
			return post(body(session, g.foreign, "approve"))
		}, 404, serve.CodeUnknown},
		"an id's other session": {func(g given) asked {
			return post(body("tom/2", g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"an unknown session": {func(g given) asked {
			return post(body("tom/404", g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"a path up": {func(g given) asked {
			return post(body("tom/2/../1", g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"a path in an id": {func(g given) asked {
			return post(body(session, "../"+g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"a session of control": {func(g given) asked {
			return post(body("tom/1\x00", g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"a session that is long": {func(g given) asked {
			return post(body(strings.Repeat("s", 600), g.id, "approve"))
		}, 404, serve.CodeUnknown},
		"nobody": {func(g given) asked {
			return by("", post(body(session, g.id, "approve")))
		}, 404, serve.CodeUnknown},
		"somebody else's": {func(g given) asked {
			return by("tom", post(body("ann/1", g.foreign, "approve")))
		}, 404, serve.CodeUnknown},
		"who may only look": {func(g given) asked {
			return by("eve", post(body(session, g.id, "approve")))
		}, 403, serve.CodeForbidden},
		"who one says one is": {func(g given) asked {
			return post(body(session, g.id, "approve", "who", "root"))
		}, 400, serve.CodeMalformed},
		"by whom": {func(g given) asked {
			return post(body(session, g.id, "approve", "by", "root"))
		}, 400, serve.CodeMalformed},
		"an input with approval": {func(g given) asked {
			return post(body(session, g.id, "approve", "input", Doc{"all"}))
		}, 422, serve.CodeBad},
		"a null with approval": {func(g given) asked {
			return post(body(session, g.id, "approve", "value", 1))
		}, 422, serve.CodeBad},
		"another call": {func(g given) asked {
			return post(body(session, g.id, "approve", "call", Doc{"all"}))
		}, 400, serve.CodeMalformed},
		"always, at high risk": {func(g given) asked {
			return post(body(session, g.id, "always"))
		}, 422, serve.CodeBad},
		"an answer for a tool": {func(g given) asked {
			return post(body(session, g.id, "answer", "value", "done"))
		}, 422, serve.CodeBad},
		"an answer of nothing": {func(g given) asked {
			return post(body(session, g.id, "answer"))
		}, 422, serve.CodeBad},
		"an edit of nothing": {func(g given) asked {
			return post(body(session, g.id, "edit"))
		}, 422, serve.CodeBad},
		"an edit to null": {func(g given) asked {
			return post(body(session, g.id, "edit", "input", nil))
		}, 422, serve.CodeBad},
		"an edit with more": {func(g given) asked {
			return post(body(session, g.id, "edit", "input", map[string]any{"id": "a", "force": true}))
		}, 422, serve.CodeBad},
		"an edit by another case": {func(g given) asked {
			return post(body(session, g.id, "edit", "input", map[string]any{"ID": "a"}))
		}, 422, serve.CodeBad},
		"a suggestion of nothing": {func(g given) asked {
			return post(body(session, g.id, "suggest"))
		}, 422, serve.CodeBad},
		"no decision": {func(g given) asked {
			return post(body(session, g.id, "whatever"))
		}, 422, serve.CodeBad},
		"expired by hand": {func(g given) asked {
			return post(body(session, g.id, "expired"))
		}, 422, serve.CodeBad},
		"superseded by hand": {func(g given) asked {
			return post(body(session, g.id, "superseded"))
		}, 422, serve.CodeBad},
		"a key twice": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":%q,"decision":"reject","decision":"approve"}`, session, g.id))
		}, 400, serve.CodeMalformed},
		"a key twice, escaped": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":%q,"decision":"reject","\u0064ecision":"approve"}`, session,
				g.id))
		}, 400, serve.CodeMalformed},
		"a key twice, deep": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":%q,"decision":"edit","input":{"id":"a","id":"b"}}`, session,
				g.id))
		}, 400, serve.CodeMalformed},
		"a key in capitals": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":%q,"Decision":"approve"}`, session, g.id))
		}, 400, serve.CodeMalformed},
		"two bodies": {func(g given) asked {
			return post(body(session, "p-0", "reject") + body(session, g.id, "approve"))
		}, 400, serve.CodeMalformed},
		"a list": {func(g given) asked {
			return post("[" + body(session, g.id, "approve") + "]")
		}, 400, serve.CodeMalformed},
		"a list of ids": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":[%q],"decision":"approve"}`, session, g.id))
		}, 400, serve.CodeMalformed},
		"half a body": {func(g given) asked {
			return post(strings.TrimSuffix(body(session, g.id, "approve"), "}"))
		}, 400, serve.CodeMalformed},
		"no UTF-8": {func(g given) asked {
			return post(fmt.Sprintf("{\"session\":%q,\"id\":%q,\"decision\":\"approve\",\"reason\":\"\xff\"}", session,
				g.id))
		}, 400, serve.CodeMalformed},
		"a deep body": {func(g given) asked {
			return post(fmt.Sprintf(`{"session":%q,"id":%q,"decision":"edit","input":%s}`, session, g.id, deep))
		}, 400, serve.CodeMalformed},
		"a body too deep": {func(g given) asked {
			return post(strings.Repeat("[", 60000))
		}, 400, serve.CodeMalformed},
		"a huge body": {func(g given) asked {
			return post(body(session, g.id, "approve", "reason", strings.Repeat("x", 64<<10)))
		}, 413, serve.CodeTooLarge},
		"a form": {func(g given) asked {
			return with(post("session="+session+"&id="+g.id+"&decision=approve"), "Content-Type",
				"application/x-www-form-urlencoded")
		}, 415, serve.CodeMediaType},
		"plain text": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Content-Type", "text/plain")
		}, 415, serve.CodeMediaType},
		"no type": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Content-Type", "")
		}, 415, serve.CodeMediaType},
		"another charset": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Content-Type", "application/json; charset=utf-7")
		}, 415, serve.CodeMediaType},
		"compressed": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Content-Encoding", "gzip")
		}, 415, serve.CodeMediaType},
		"a cross-site post": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Sec-Fetch-Site", "cross-site")
		}, 403, serve.CodeCrossSite},
		"a sibling's post": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Sec-Fetch-Site", "same-site")
		}, 403, serve.CodeCrossSite},
		"another origin": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Origin", "https://evil.example")
		}, 403, serve.CodeCrossSite},
		"the origin null": {func(g given) asked {
			return with(post(body(session, g.id, "approve")), "Origin", "null")
		}, 403, serve.CodeCrossSite},
		"a get that decides": {func(g given) asked {
			return asked{user: "ann", method: "GET", target: "/decide?session=tom%2F1&decision=approve&id=" + g.id}
		}, 405, serve.CodeMethod},
		"a put": {func(g given) asked {
			return asked{user: "ann", method: "PUT", target: "/decide", body: body(session, g.id, "approve")}
		}, 405, serve.CodeMethod},
		"an overridden method": {func(g given) asked {
			return with(asked{user: "ann", method: "GET", target: "/decide", body: body(session, g.id, "approve")},
				"X-HTTP-Method-Override", "POST")
		}, 405, serve.CodeMethod},
		"a path beside": {func(g given) asked {
			return asked{user: "ann", method: "POST", target: "/item/../decide", body: body(session, g.id, "approve")}
		}, 404, serve.CodeUnknown},
		"a path escaped": {func(g given) asked {
			return asked{user: "ann", method: "POST", target: "/item/%2e%2e/decide",
				body: body(session, g.id, "approve")}
		}, 404, serve.CodeUnknown},
		"two slashes": {func(g given) asked {
			return asked{user: "ann", method: "POST", target: "//decide", body: body(session, g.id, "approve")}
		}, 404, serve.CodeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, call("cms.remove", "home"), call("cms.remove", "blog"), say("Done."))
			id := d.run(session)[0].ID
			foreign := d.run("ann/1")[0].ID
			before := len(d.facts(session))
			q := c.q(given{id, foreign})
			if q.header["Sec-Fetch-Site"] == "" && q.header["Origin"] == "" { // what a page of its own site says
				if q.header == nil {
					q.header = map[string]string{}
				}
				q.header["Sec-Fetch-Site"] = "same-origin"
			}
			status, code, message := verdict(t, d.ask(q))
			require.Equal(t, c.code, code, message)
			require.Equal(t, c.status, status)
			require.NotContains(t, message, foreign)

			require.Empty(t, d.decided)
			require.Len(t, d.facts(session), before)
			for _, s := range []string{session, "ann/1"} {
				require.Zero(t, d.inbox(s))
				require.Zero(t, d.started(s))
			}
			_, err := d.a.Run(t.Context(), agent.Continue(session))
			var paused *agent.PausedError
			require.ErrorAs(t, err, &paused, "it still waits")
			require.Empty(t, d.done.done())

			status, _, message = d.decide("tom", body(session, id, "approve"))
			require.Equal(t, http.StatusOK, status, message)
			d.goOn(session)
			require.Equal(t, []string{"home"}, d.done.done(), "the right one is taken all the same")
		})
	}
}

func TestARequestIsTakenOnceHoweverOftenItIsSentAndAcrossRestarts(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	first := body("s", id, "approve")
	status, _, _ := d.decide("ann", first)
	require.Equal(t, 200, status)
	again := func(when string) {
		t.Helper()
		for _, b := range []string{first, body("s", id, "reject", "reason", "no"),
			body("s", id, "edit", "input", Doc{"all"})} {
			status, code, message := d.decide("ann", b)
			require.Equal(t, 409, status, when)
			require.Equal(t, serve.CodeUsed, code, message)
		}
	}
	again("before it ran")
	d.restart(say("Done."))
	again("in another process")
	require.Equal(t, agent.Completed, d.goOn("s").Status)
	again("after the end of the run")
	d.restart(call("cms.remove", "home"), say("Done."))
	next := d.run("s")[0].ID
	require.NotEqual(t, id, next, "the same call again has another id")
	again("in the session's next run")
	_, err := d.a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	again("after its log was pruned")
	require.Equal(t, []string{"home"}, d.done.done())
	require.Zero(t, d.started("s"), "nor since the log was pruned")
	var who []string
	for _, x := range d.decided {
		who = append(who, x.User)
	}
	require.Equal(t, []string{"ann"}, who)
}

func TestOfAHundredDecisionsAtATimeOneIsTaken(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	var wg sync.WaitGroup
	var taken, told atomic.Int32
	var winner atomic.Value
	for i := range 100 {
		b := body("s", id, "approve")
		switch i % 4 {
		case 1:
			b = body("s", id, "reject", "reason", "no")
		case 2:
			b = body("s", id, "edit", "input", Doc{"blog"})
		case 3:
			b = body("s", id, "suggest", "reason", "archive it")
		}
		wg.Go(func() {
			switch status, code, message := d.decide("ann", b); {
			case status == 200:
				taken.Add(1)
				winner.Store(b)
			case status == 409 && code == serve.CodeUsed:
				told.Add(1)
			default:
				t.Error(status, code, message)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, taken.Load())
	require.EqualValues(t, 99, told.Load())
	require.Len(t, d.decided, 1)
	d.goOn("s")
	want := []string{}
	switch d.decided[0].Kind {
	case machine.Approved:
		want = []string{"home"}
	case machine.Edited:
		want = []string{"blog"}
	}
	require.Equal(t, want, d.done.done())
	require.Len(t, want, d.started("s"))
	require.Contains(t, winner.Load(), string(d.decided[0].Kind))
}

func TestWhoApprovesWhatTheySawCantApproveWhatAnotherMadeOfIt(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	var seen approvals.Detail
	require.Equal(t, 200, d.get("ann", itemPath("s", id), &seen))
	require.JSONEq(t, `{"id":"home"}`, string(seen.Pause.Call.Input))
	status, _, _ := d.decide("ann", body("s", id, "edit", "input", Doc{"blog"}))
	require.Equal(t, 200, status)
	status, code, _ := d.decide("ann", body("s", id, "approve"))
	require.Equal(t, 409, status)
	require.Equal(t, serve.CodeUsed, code)
	d.goOn("s")
	require.Equal(t, []string{"blog"}, d.done.done(), "once, with the input of the one decision that was taken")
	require.Equal(t, 200, d.get("ann", itemPath("s", id), &seen))
	require.Equal(t, approvals.StateDecided, seen.State)
	require.Equal(t, machine.Edited, seen.Decision.Kind)
	require.Equal(t, "ann", seen.Decision.User)
}

func TestDecisionsInAnotherOrderRunWhatWasDecided(t *testing.T) {
	d := newDesk(t, agent.Config{}, calls("cms.remove", "a", "b", "c"), say("Done."))
	p := d.run("s")
	for _, b := range []string{body("s", p[2].ID, "approve"), body("s", p[0].ID, "reject"),
		body("s", p[1].ID, "edit", "input", Doc{"x"})} {
		status, _, message := d.decide("ann", b)
		require.Equal(t, 200, status, message)
	}
	require.Equal(t, agent.Completed, d.goOn("s").Status)
	require.Equal(t, []string{"x", "c"}, d.done.done())
	require.Equal(t, 2, d.started("s"))
}

func TestWhatHasExpiredCantBeDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{PauseExpires: time.Minute}, call("cms.remove", "home"), say("Too late."))
		id := d.run("s")[0].ID
		var list struct{ Items []approvals.Open }
		require.Equal(t, 200, d.get("ann", "/", &list))
		require.False(t, list.Items[0].Expired)
		require.Equal(t, time.Minute, time.Until(list.Items[0].Expires))
		<-time.After(time.Minute)
		require.Equal(t, 200, d.get("ann", "/", &list))
		require.True(t, list.Items[0].Expired)
		for range 2 { // before the run knows, and afterwards
			for _, b := range []string{body("s", id, "approve"), body("s", id, "edit", "input", Doc{"x"}),
				body("s", id, "reject")} {
				status, code, message := d.decide("ann", b)
				require.Equal(t, 409, status)
				require.Equal(t, serve.CodeExpired, code, message)
			}
			var seen approvals.Detail
			require.Equal(t, 200, d.get("ann", itemPath("s", id), &seen))
			require.Equal(t, approvals.StateExpired, seen.State)
			if seen.Decision == nil {
				require.Equal(t, "Too late.", d.goOn("s").Text())
			}
		}
		require.Empty(t, d.done.done())
		require.Zero(t, d.started("s"))
		require.Empty(t, d.decided)
	})
}

func TestARuleGoesNoFurtherThanItMay(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.touch", "a"), call("cms.touch", "b"), call("cms.remove", "home"))
	id := d.run("tom/1")[0].ID
	status, _, _ := d.decide("tom", body("tom/1", id, "always"))
	require.Equal(t, 200, status)
	res := d.goOn("tom/1")
	require.Equal(t, []string{"a", "b"}, d.done.done(), "this tool, this session")
	require.Equal(t, "cms.remove", res.Pending[0].Call.Name, "not another tool")

	rules, err := d.a.Session("tom/1").Rules(t.Context())
	require.NoError(t, err)
	require.Equal(t, "cms.touch", rules[0].Tool)
	require.Equal(t, "tom", rules[0].By)

	d.restart(call("cms.touch", "c"))
	require.Len(t, d.run("tom/2"), 1, "nor another session")
}

func TestAnApprovalThatHasGoneStaleRunsNothing(t *testing.T) {
	deny := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Deny, Reason: "not any more"}
	}
	for name, c := range map[string]struct {
		cfg     func(done *effects) agent.Config
		changed bool // the run doesn't just continue
		status  tools.Status
	}{
		"another schema": {func(done *effects) agent.Config {
			s := remove
			s.Schema = []byte(`{"properties":{"id":{"enum":["blog"]}}}`)
			return agent.Config{Tools: []tools.Tool{done.tool(s)}}
		}, true, tools.Invalid},
		"the tool is gone": {func(done *effects) agent.Config {
			return agent.Config{Tools: []tools.Tool{done.tool(touch)}}
		}, true, tools.Unknown},
		"another policy": {func(done *effects) agent.Config {
			return agent.Config{Tools: []tools.Tool{done.tool(remove)}, Policies: []tools.Policy{deny}}
		}, false, tools.Denied},
		"another Check": {func(done *effects) agent.Config {
			return agent.Config{Tools: []tools.Tool{tools.Func[Doc, string]{
				Spec: remove,
				Run: func(_ context.Context, in Doc) (string, error) {
					done.ids = append(done.ids, in.ID)
					return "gone", nil
				},
				Check: func(context.Context, Doc) error { return fmt.Errorf("the page was published meanwhile") },
			}}}
		}, false, tools.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
			id := d.run("s")[0].ID
			status, _, _ := d.decide("ann", body("s", id, "approve"))
			require.Equal(t, 200, status)
			d.cfg = c.cfg(&d.done)
			d.cfg.Name, d.cfg.Journal = "cms", d.store
			d.restart(say("Then not."))
			in := agent.Continue("s")
			if c.changed {
				_, err := d.a.Run(t.Context(), in)
				var changed *agent.ChangedError
				require.ErrorAs(t, err, &changed)
				in.AcceptChanges = true
			}
			res, err := d.a.Run(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, "Then not.", res.Text())
			require.Empty(t, d.done.done())
			require.Zero(t, d.started("s"))
			for _, f := range d.facts("s") {
				if f, ok := f.(*agent.ToolFinished); ok {
					require.Equal(t, c.status, f.Result.Status)
				}
			}
		})
	}
}

func TestWhatAChildWaitsForIsDecidedAtItsParentAlone(t *testing.T) {
	synctest.Test(t, decideOnAChild)
}

func decideOnAChild(t *testing.T) {
	var done effects
	child, err := agent.New(agent.Config{Name: "child",
		Provider: providertest.Script(calls("cms.remove", "home", "blog"), say("I did.")),
		Tools:    []tools.Tool{done.tool(remove)}})
	require.NoError(t, err)
	d := newDesk(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "does it"})}},
		providertest.Call("child", agent.Task{Task: "Remove the home page."}), say("Done."))
	began := time.Now()
	both := d.run("s")
	p := both[0]
	name := ""
	for h, err := range d.store.Heads(t.Context(), journal.Filter{Prefix: "call/", Open: true}) {
		require.NoError(t, err)
		name = h.Session
	}
	require.NotEmpty(t, name)
	d.restart(say("Done."))

	require.Equal(t, 404, d.get("ann", itemPath(name, p.ID), nil))
	status, code, _ := d.decide("ann", body(name, p.ID, "approve"))
	require.Equal(t, 404, status)
	require.Equal(t, serve.CodeUnknown, code)
	require.Zero(t, d.inbox(name))
	var list struct{ Items []approvals.Open }
	require.Equal(t, 200, d.get("ann", "/", &list))
	require.Len(t, list.Items, 2, "each is listed once")
	require.Equal(t, "s", list.Items[0].Session)
	require.Empty(t, done.done())

	var seen approvals.Detail
	require.Equal(t, 200, d.get("ann", itemPath("s", p.ID), &seen))
	require.Equal(t, p.Path, seen.Pause.Path)
	require.Equal(t, "cms.remove", seen.Pause.Call.Name)
	status, _, message := d.decide("ann", body("s", p.ID, "approve"))
	require.Equal(t, 200, status, message)
	<-time.After(time.Hour)
	require.Equal(t, agent.Paused, d.goOn("s").Status)
	require.Equal(t, []string{"home"}, done.done())

	status, code, _ = d.decide("ann", body("s", p.ID, "approve"))
	require.Equal(t, 409, status)
	require.Equal(t, serve.CodeUsed, code)
	require.Equal(t, 200, d.get("ann", itemPath("s", both[1].ID), &seen))
	require.True(t, began.Equal(seen.Since), "since it first waited")
	status, _, _ = d.decide("ann", body("s", both[1].ID, "reject"))
	require.Equal(t, 200, status)
	require.Equal(t, agent.Completed, d.goOn("s").Status)
	require.Equal(t, []string{"home"}, done.done())
}

func TestADecisionThatDoesNotComeIsAnswered(t *testing.T) {
	d := newDesk(t, agent.Config{})
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "/decide", w)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User", "ann")
	d.h.ServeHTTP(w, r)
	require.Equal(t, http.StatusRequestTimeout, w.Code)
	require.Contains(t, w.Body.String(), `"code":"`+serve.CodeSlow+`"`)
	require.InDelta(t, 30*time.Second, w.limit, float64(time.Second))
}
