package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Doc is the input of the tools in these tests.
type Doc struct {
	ID string `json:"id"`
}

// effects notes what tools did: the ids of pages, in order.
type effects struct {
	mu  sync.Mutex
	ids []string
}

func (e *effects) tool(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(_ context.Context, in Doc) (string, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ids = append(e.ids, in.ID)
		return in.ID + " is gone", nil
	})
}

func (e *effects) done() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.ids...)
}

// remove is the tool that asks; touch asks too, but may be allowed for good.
var (
	remove = tools.Spec{Name: "cms.remove", Risk: tools.High}
	touch  = tools.Spec{Name: "cms.touch", Approval: tools.AskAlways}
)

func call(tool, id string) providertest.Step { return providertest.Call(tool, Doc{id}) }

func calls(tool string, ids ...string) providertest.Step {
	var specs []providertest.CallSpec
	for _, id := range ids {
		specs = append(specs, providertest.CallSpec{Tool: tool, Input: Doc{id}})
	}
	return providertest.Calls(specs...)
}

func say(text string) providertest.Step { return providertest.Say(text) }

// A desk is where people decide on what one agent waits for.
type desk struct {
	t     *testing.T
	store journal.Store
	done  effects
	cfg   agent.Config
	hcfg  serve.ApprovalsConfig
	a     *agent.Agent
	h     http.Handler

	mu      sync.Mutex
	decided []serve.Decided
}

// newDesk returns a desk of an agent named "cms". Whoever asks says who they are in the header
// "User": "ann" may do everything, "tom" what is in sessions that begin with "tom/", "eve" sees all
// and decides nothing.
func newDesk(t *testing.T, cfg agent.Config, steps ...providertest.Step) *desk {
	d := &desk{t: t, store: &journal.MapStore{}, cfg: cfg}
	d.cfg.Name, d.cfg.Journal = "cms", d.store
	if d.cfg.Tools == nil {
		d.cfg.Tools = []tools.Tool{d.done.tool(remove), d.done.tool(touch)}
	}
	d.hcfg = serve.ApprovalsConfig{Authorize: authorize, Logger: slog.New(slog.DiscardHandler)}
	d.hcfg.OnDecided = func(_ context.Context, x serve.Decided) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.decided = append(d.decided, x)
	}
	d.restart(steps...)
	return d
}

func authorize(r *http.Request, item serve.Item, act serve.Action) (string, error) {
	switch user := r.Header.Get("User"); {
	case user == "ann":
		return "ann", nil
	case user == "tom" && strings.HasPrefix(item.Session, "tom/"):
		return "tom", nil
	case user == "eve" && (act == serve.ActionList || act == serve.ActionRead):
		return "eve", nil
	}
	return "", errors.New("no")
}

// restart lets another process take over: a new agent and a new handler over the same store.
func (d *desk) restart(steps ...providertest.Step) {
	d.t.Helper()
	d.cfg.Provider = providertest.Script(steps...)
	a, err := agent.New(d.cfg)
	require.NoError(d.t, err)
	d.a = a
	d.hcfg.Store, d.hcfg.Agents = d.store, map[string]*agent.Agent{"cms": a}
	d.h, err = serve.Approvals(d.hcfg)
	require.NoError(d.t, err)
}

// run runs a prompt in a session and returns what it waits for then.
func (d *desk) run(session string) []agent.Pause {
	d.t.Helper()
	res, err := d.a.Run(d.t.Context(), agent.Input{Session: session, Prompt: "Tidy up.", User: "bob"})
	if err != nil {
		require.ErrorAs(d.t, err, new(*agent.PausedError))
	}
	return res.Pending
}

// goOn resumes a session.
func (d *desk) goOn(session string) *agent.Result {
	d.t.Helper()
	res, err := d.a.Run(d.t.Context(), agent.Continue(session))
	if res == nil || res.Status != agent.Paused {
		require.NoError(d.t, err)
	}
	return res
}

func (d *desk) facts(session string) []agent.Fact {
	d.t.Helper()
	facts, err := d.a.Session(session).Facts(d.t.Context())
	require.NoError(d.t, err)
	return facts
}

// started returns how many calls of a session were started.
func (d *desk) started(session string) (n int) {
	for _, f := range d.facts(session) {
		if _, ok := f.(*agent.ToolStarted); ok {
			n++
		}
	}
	return n
}

// inbox returns how much was sent to a session that it hasn't read.
func (d *desk) inbox(session string) int {
	d.t.Helper()
	h, err := d.store.Head(d.t.Context(), session)
	require.NoError(d.t, err)
	return h.Inbox
}

// An asked is a request on its way to a handler.
type asked struct {
	user, method, target, body string
	header                     map[string]string
}

// ask makes a request and returns the answer, whose headers must be those of all answers.
func (d *desk) ask(q asked) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(q.method, q.target, strings.NewReader(q.body))
	r.Header.Set("User", q.user)
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
		if v == "" {
			r.Header.Del(k)
		}
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	require.Equal(d.t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(d.t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	if w.Body.Len() > 0 {
		want := "application/json"
		if w.Code >= 400 {
			want = "application/problem+json"
		}
		require.Equal(d.t, want, w.Header().Get("Content-Type"))
		require.True(d.t, json.Valid(w.Body.Bytes()), w.Body.String())
	}
	return w
}

// get asks for something, and decodes the answer if it is one.
func (d *desk) get(user, target string, into any) int {
	d.t.Helper()
	w := d.ask(asked{user: user, method: "GET", target: target})
	if w.Code == http.StatusOK {
		require.NoError(d.t, json.Unmarshal(w.Body.Bytes(), into))
	}
	return w.Code
}

// body returns the body of a decision, with more members.
func body(session, id, decision string, more ...any) string {
	m := map[string]any{"session": session, "id": id, "decision": decision}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// decide sends a decision, and returns the status and the code and message of an error.
func (d *desk) decide(user, body string) (status int, code, message string) {
	d.t.Helper()
	return verdict(d.t, d.ask(asked{user: user, method: "POST", target: "/decide", body: body}))
}

func verdict(t *testing.T, w *httptest.ResponseRecorder) (status int, code, message string) {
	t.Helper()
	var p problem
	if w.Code >= 400 {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
		require.NotEmpty(t, p.Detail, "it says why")
	}
	return w.Code, p.Code, p.Detail
}

// untraced returns the body of an answer without what names the request in the log.
func untraced(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &all))
	delete(all, "trace")
	raw, err := json.Marshal(all)
	require.NoError(t, err)
	return string(raw)
}

func itemPath(session, id string) string {
	return "/item?" + url.Values{"session": {session}, "id": {id}}.Encode()
}
