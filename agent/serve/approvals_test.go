package serve_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/tools"
)

func TestThereIsNoHandlerWithoutAnAuthorizer(t *testing.T) {
	good := newDesk(t, agent.Config{}).hcfg
	for field, spoil := range map[string]func(*serve.ApprovalsConfig){
		"Authorize": func(c *serve.ApprovalsConfig) { c.Authorize = nil },
		"Store":     func(c *serve.ApprovalsConfig) { c.Store = nil },
		"Agents":    func(c *serve.ApprovalsConfig) { c.Agents = map[string]*agent.Agent{"cms": nil} },
		"Origins":   func(c *serve.ApprovalsConfig) { c.Origins = []string{"console.example.org"} },
	} {
		cfg := good
		spoil(&cfg)
		h, err := serve.Approvals(cfg)
		require.Nil(t, h)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Config."+field, bad.Field)
	}
	cfg := good
	cfg.Agents = map[string]*agent.Agent{}
	_, err := serve.Approvals(cfg)
	require.Error(t, err, "nil is for decisions without an agent")
}

func TestAnItemTellsWhatOneNeedsToDecide(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("tom/ü #1")[0].ID
	var seen approvals.Detail
	require.Equal(t, 200, d.get("tom", itemPath("tom/ü #1", id)+"&messages=2", &seen))
	require.Equal(t, approvals.StateOpen, seen.State)
	require.Equal(t, "cms.remove", seen.Pause.Call.Name)
	require.Equal(t, "high", seen.Pause.Risk)
	require.Equal(t, "this tool is of high risk", seen.Pause.Reason)
	require.Equal(t, "bob", seen.User)
	require.Equal(t, "cms", seen.Agent)
	require.False(t, seen.Since.IsZero())
	require.Len(t, seen.Messages, 2)
	require.Equal(t, "Tidy up.", seen.Messages[0].Text)
	require.Equal(t, []string{"cms.remove"}, seen.Messages[1].Calls)
	seen = approvals.Detail{}
	require.Equal(t, 200, d.get("tom", itemPath("tom/ü #1", id), &seen))
	require.Empty(t, seen.Messages, "only if they are asked for")

	_, err := d.a.Session("tom/ü #1").Prune(t.Context())
	require.NoError(t, err)
	require.Equal(t, 200, d.get("tom", itemPath("tom/ü #1", id)+"&messages=9", &seen))
	require.Equal(t, approvals.StateOpen, seen.State, "also when its log was pruned")
	require.Equal(t, "cms.remove", seen.Pause.Call.Name)
	require.Len(t, seen.Messages, 2)
	status, _, _ := d.decide("tom", body("tom/ü #1", id, "reject", "reason", "keep it"))
	require.Equal(t, 200, status)
	d.goOn("tom/ü #1")
	seen = approvals.Detail{}
	require.Equal(t, 200, d.get("tom", itemPath("tom/ü #1", id)+"&messages=9", &seen))
	require.Equal(t, approvals.StateDecided, seen.State)
	require.Equal(t, machine.Rejected, seen.Decision.Kind)
	require.Equal(t, "keep it", seen.Decision.Reason)
	require.Equal(t, "tom", seen.Decision.User)
	require.Empty(t, seen.Messages)
}

func TestWhatIsntThereAndWhatIsntTheirsIsAnsweredAlike(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), call("cms.remove", "home"))
	theirs, used := d.run("ann/1")[0].ID, d.run("ann/2")[0].ID
	status, _, _ := d.decide("ann", body("ann/2", used, "reject"))
	require.Equal(t, 200, status)
	answers := map[string]bool{}
	for _, target := range []string{itemPath("ann/1", theirs), itemPath("ann/2", used), itemPath("ann/1", "p-0"),
		itemPath("nowhere", "p-0"),
		itemPath("", ""), itemPath("call/r-1.1.0", "p-0"), itemPath("a\nb", "p-0"), itemPath("ann/1", "")} {
		w := d.ask(asked{user: "tom", method: "GET", target: target})
		require.Equal(t, 404, w.Code, target)
		answers[untraced(t, w)] = true
	}
	for _, b := range []string{body("ann/1", theirs, "approve"), body("ann/2", used, "approve"),
		body("nowhere", "p-0", "approve")} {
		w := d.ask(asked{user: "tom", method: "POST", target: "/decide", body: b})
		require.Equal(t, 404, w.Code)
		answers[untraced(t, w)] = true
	}
	require.Len(t, answers, 1)
}

func TestEachKindOfDecisionIsTakenAndSaysByWhom(t *testing.T) {
	question := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Doc) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Which colour?", Schema: []byte(`{"enum":["red","blue"]}`)}
	})
	for decision, c := range map[string]struct {
		tool string
		more []any
		ran  []string
		says string
	}{
		"approve": {"cms.remove", nil, []string{"home"}, "home is gone"},
		"reject":  {"cms.remove", []any{"reason", "keep it"}, []string{}, "keep it"},
		"suggest": {"cms.remove", []any{"reason", "archive it"}, []string{}, "archive it"},
		"edit":    {"cms.remove", []any{"input", Doc{"blog"}}, []string{"blog"}, "blog is gone"},
		"always":  {"cms.touch", []any{"reason", "harmless"}, []string{"home"}, "home is gone"},
		"answer":  {"ask", []any{"value", "blue"}, []string{}, "blue"},
	} {
		t.Run(decision, func(t *testing.T) {
			d := newDesk(t, agent.Config{})
			d.cfg.Tools = append(d.cfg.Tools, question)
			d.restart(call(c.tool, "home"), say("Done."))
			id := d.run("s")[0].ID
			w := d.ask(asked{user: "ann", method: "POST", target: "/decide", body: body("s", id, decision, c.more...),
				header: map[string]string{"Content-Type": "application/json; charset=UTF-8"}})
			require.Equal(t, 200, w.Code, w.Body.String())
			require.JSONEq(t, `{"session":"s","id":"`+id+`","decision":"`+decision+`","by":"ann"}`, w.Body.String())
			require.Len(t, d.decided, 1)
			require.Equal(t, serve.Decided{Agent: d.a, Session: "s", ID: id, Kind: agent.DecisionKind(decision),
				User: "ann"}, d.decided[0])
			d.goOn("s")
			require.Equal(t, c.ran, d.done.done())
			for _, f := range d.facts("s") {
				switch f := f.(type) {
				case *machine.Decided:
					require.Equal(t, "ann", f.By)
					if len(c.more) > 0 && c.more[0] == "reason" {
						require.Equal(t, c.more[1], f.Decision.Reason, "why is in the log")
					}
				case *agent.ToolFinished:
					require.Contains(t, f.Result.Text(), c.says)
				}
			}
		})
	}
	d := newDesk(t, agent.Config{Tools: []tools.Tool{question}}, call("ask", "x"))
	id := d.run("s")[0].ID
	status, code, message := d.decide("ann", body("s", id, "answer", "value", "green"))
	require.Equal(t, 422, status)
	require.Equal(t, serve.CodeBad, code)
	require.Contains(t, message, "blue", "it says what would be right")
}

func TestMethodsAndPathsThatArentThereSaySo(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	for _, c := range []struct {
		method, target string
		status         int
		allow          string
	}{
		{"HEAD", "/", 200, ""}, {"HEAD", itemPath("s", id), 200, ""},
		{"OPTIONS", "/", 204, "GET, HEAD, OPTIONS"}, {"OPTIONS", "/decide", 204, "POST, OPTIONS"},
		{"POST", "/", 405, "GET, HEAD, OPTIONS"}, {"DELETE", "/item", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/items", 404, ""}, {"GET", "/item/", 404, ""}, {"GET", "/%2e%2e/item", 404, ""},
		{"GET", "/./item", 404, ""},
		{"GET", "/?limit=x", 400, ""}, {"GET", "/?limit=-1", 400, ""}, {"GET", "/?before=soon", 400, ""},
		{"GET", "/?sort=id", 400, ""},
		{"GET", "/?limit=1&limit=2", 400, ""}, {"GET", "/?a=%zz", 400, ""},
		{"GET", itemPath("s", id) + "&messages=many", 400, ""},
		{"GET", "/?before=2999-01-01T00:00:00Z", 200, ""},
	} {
		w := d.ask(asked{user: "ann", method: c.method, target: c.target})
		require.Equal(t, c.status, w.Code, "%s %s: %s", c.method, c.target, w.Body)
		require.Equal(t, c.allow, w.Header().Get("Allow"))
		require.Empty(t, w.Header().Get("Location"))
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
	}
}

func TestAHandlerBehindAPrefixOfAServer(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	mux := http.NewServeMux()
	mux.Handle("/approvals/", http.StripPrefix("/approvals", d.h))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	send := func(method, path, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("User", "ann")
		r.Header.Set("Content-Type", "application/json")
		res, err := srv.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, 200, send("GET", "/approvals/", ""))
	require.Equal(t, 413, send("POST", "/approvals/decide", strings.Repeat(" ", 1<<20)))
	require.Equal(t, 200, send("POST", "/approvals/decide", body("s", id, "approve")))
	require.Equal(t, 409, send("POST", "/approvals/decide", body("s", id, "approve")))
	srv.Client().CloseIdleConnections()
}

func TestATrustedOriginMayDecide(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	d.hcfg.Origins = []string{"https://console.example.org"}
	d.restart(call("cms.remove", "home"))
	id := d.run("s")[0].ID
	for origin, status := range map[string]int{"https://console.example.org.evil.example": 403,
		"http://console.example.org": 403} {
		w := d.ask(asked{user: "ann", method: "POST", target: "/decide", body: body("s", id, "approve"),
			header: map[string]string{"Origin": origin, "Sec-Fetch-Site": "cross-site"}})
		require.Equal(t, status, w.Code)
	}
	w := d.ask(asked{user: "ann", method: "POST", target: "/decide", body: body("s", id, "approve"),
		header: map[string]string{"Origin": "https://console.example.org", "Sec-Fetch-Site": "cross-site"}})
	require.Equal(t, 200, w.Code)
}

func TestAnAuthorizerIsToldWhatItIsAskedAboutAndChangesNothing(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	var acts []serve.Action
	who := ""
	d.hcfg.Authorize = func(_ *http.Request, item serve.Item, act serve.Action) (string, error) {
		acts = append(acts, act)
		require.Equal(t, "s", item.Session)
		require.Equal(t, act == serve.ActionDecide, item.Decision != nil)
		require.Equal(t, act == serve.ActionRead || act == serve.ActionDecide, item.Pause != nil)
		if act == serve.ActionDecide {
			require.Equal(t, "cms", item.Agent)
			require.Equal(t, "cms.remove", item.Tool)
			require.JSONEq(t, `{"id":"blog"}`, string(item.Decision.Input))
			copy(item.Decision.Input, `{"id":"XXXX"}`)
			copy(item.Pause.Call.Input, `{"id":"XXXX"}`)
			item.Decision.Kind = machine.Approved
		}
		return who, nil
	}
	d.restart(say("Done."))
	status, code, _ := d.decide("", body("s", id, "edit", "input", Doc{"blog"}))
	require.Equal(t, 500, status, "a decision bears a name")
	require.Equal(t, serve.CodeInternal, code)
	require.Zero(t, d.inbox("s"))
	who = "ann"
	status, _, _ = d.decide("", body("s", id, "edit", "input", Doc{"blog"}))
	require.Equal(t, 200, status)
	require.Equal(t, []serve.Action{serve.ActionRead, serve.ActionDecide, serve.ActionRead, serve.ActionDecide},
		acts)
	d.goOn("s")
	require.Equal(t, []string{"blog"}, d.done.done())
}

func TestTheSessionOfAnAgentThatIsntServedHereIsShownAndLeftAlone(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.touch", "home"), say("Done."))
	id := d.run("s")[0].ID
	d.hcfg.Agents = map[string]*agent.Agent{"other": d.a}
	h, err := serve.Approvals(d.hcfg)
	require.NoError(t, err)
	d.h = h
	require.Equal(t, 200, d.get("ann", itemPath("s", id), new(approvals.Detail)))
	status, code, message := d.decide("ann", body("s", id, "always"))
	require.Equal(t, 422, status)
	require.Equal(t, serve.CodeElsewhere, code)
	require.Contains(t, message, "cms")
	require.Zero(t, d.inbox("s"))
}

// A broken is a store that can't be written to.
type broken struct{ journal.Store }

func (broken) Post(context.Context, string, journal.Item) error {
	return errors.New("sql: password authentication failed for user \"pawl\"")
}

func TestWhatFailsWithinIsntTold(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	d.cfg.Journal = broken{d.store}
	d.restart()
	status, code, message := d.decide("ann", body("s", id, "approve"))
	require.Equal(t, 500, status)
	require.Equal(t, serve.CodeInternal, code)
	require.NotContains(t, message, "password")
	require.Empty(t, d.decided)
}

// A leaver is a store whose client goes away in the middle of a post.
type leaver struct {
	journal.Store
	leave func()
}

func (l *leaver) Post(ctx context.Context, session string, it journal.Item) error {
	l.leave()
	return l.Store.Post(ctx, session, it)
}

func TestADecisionIsTakenWholeThoughTheAskerHasGone(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d.cfg.Journal = &leaver{d.store, cancel}
	d.restart()
	r := httptest.NewRequest("POST", "/decide", strings.NewReader(body("s", id, "approve"))).WithContext(ctx)
	r.Header.Set("User", "ann")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
	require.Len(t, d.decided, 1)
	require.Equal(t, 1, d.inbox("s"))
}

func TestARuleThatARunHoldsIsRevokedAllTheSame(t *testing.T) {
	d := newDesk(t, agent.Config{})
	revoke := tools.New(tools.Spec{Name: "revoke"}, func(ctx context.Context, _ Doc) (string, error) {
		return "ok", d.a.Session("s").Revoke(ctx, "cms.touch", "ann")
	})
	d.cfg.Tools = append(d.cfg.Tools, revoke)
	d.restart(call("cms.touch", "a"), call("revoke", ""), call("cms.touch", "b"), say("Done."))
	id := d.run("s")[0].ID
	s, _, _ := d.decide("ann", body("s", id, "always"))
	require.Equal(t, 200, s)
	require.Equal(t, agent.Paused, d.goOn("s").Status, "it asks again")
	require.Equal(t, []string{"a"}, d.done.done())
}

func TestAnAuthorizerThatPanicsPermitsNothing(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	panics := serve.ActionList
	d.hcfg.Authorize = func(r *http.Request, item serve.Item, act serve.Action) (string, error) {
		if act == panics {
			panic("no rights are known")
		}
		return "ann", nil
	}
	d.restart(say("Done."))
	var list struct{ Items []approvals.Open }
	require.Equal(t, http.StatusOK, d.get("ann", "/", &list))
	require.Empty(t, list.Items)
	for act, want := range map[serve.Action]int{serve.ActionRead: http.StatusNotFound,
		serve.ActionDecide: http.StatusForbidden} {
		panics = act
		status, _, message := d.decide("ann", body("s", id, "approve"))
		require.Equal(t, want, status)
		require.NotContains(t, message, "rights")
	}
	require.Zero(t, d.inbox("s"), "nothing was decided")
	require.Empty(t, d.decided)
}

func TestAPanicAfterADecisionDoesNotChangeItsAnswer(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	d.hcfg.OnDecided = func(context.Context, serve.Decided) { panic("no one is woken") }
	d.restart(call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	status, _, message := d.decide("ann", body("s", id, "approve"))
	require.Equal(t, 200, status, message)
	require.Equal(t, 1, d.inbox("s"))
	d.goOn("s")
	require.Equal(t, []string{"home"}, d.done.done())
}
