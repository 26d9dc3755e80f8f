package approvals

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Config configures a [Handler]. Store, Agents and Authorize are required.
type Config struct {
	// Store is the journal in which the agents keep their sessions.
	Store journal.Store
	// Agents are the agents whose sessions are decided on here, by name: agent.Config.Name. They
	// needn't be able to run the calls, but they need the tools: an edited input is validated
	// against them.
	Agents map[string]*agent.Agent
	// Authorize decides whether the user who makes a request may act on an item, and returns the
	// user's name, which is recorded with a decision or a revocation. An error denies the act. It
	// may be called from several goroutines at a time, and for a list once for each open item. A
	// panic denies the act, too, and is logged.
	Authorize func(r *http.Request, item Item, act Act) (user string, err error)
	// Plans, if it isn't nil, has the runs of plans in Store: what they wait for is listed with the
	// items of sessions, and is decided on in the same way. The calls of their nodes are among it.
	Plans *plan.Runner
	// OnDecided, if it isn't nil, is called with each recorded decision, before the response. It
	// must return at once: let it wake a goroutine that calls [agent.Agent.Recover]. Runs of plans
	// go on by themselves ([plan.Runner.Serve]). Its context outlives the request.
	OnDecided func(ctx context.Context, d Decided)

	// MaxBody is the most bytes that a body may have; 0: 64 KiB.
	MaxBody int64
	// MaxPage is the most items on a page, not counting further items of the last session; 0: 100.
	// It is also the default page size.
	MaxPage int
	// MaxMessages is how many messages of a conversation may be requested with an item; 0: 20,
	// below 0: none.
	MaxMessages int
	// Origins are those of other sites whose pages may make requests, such as
	// "https://console.example.org".
	Origins []string
	Logger  *slog.Logger // nil: nothing is logged
}

// Defaults of a [Config].
const (
	DefaultMaxBody     = 64 << 10
	DefaultMaxPage     = 100
	DefaultMaxMessages = 20
)

// An Act is what a user wants to do with an item.
type Act string

// The acts that an authorizer is asked about.
const (
	ActList   Act = "list"   // see the item in a list, or learn that its session can't be read
	ActView   Act = "view"   // see the item in full
	ActDecide Act = "decide" // make Item.Decision; checked only for users who may view
	ActRules  Act = "rules"  // see the standing approvals of Item.Session
	ActRevoke Act = "revoke" // revoke that of Item.Tool; checked only for users who may see them
)

// An Item is what an authorizer decides about.
type Item struct {
	Session string
	ID      string // empty for rules
	Kind    agent.PauseKind
	Tool    string
	Reason  string
	For     string // who decides, if that isn't a person: see tools.Suspend
	Expires time.Time
	// Agent is the name of the session's agent; unknown (empty) in lists, and if the session's log
	// can't be read.
	Agent string
	// Pause has all details; nil in lists and for rules.
	Pause *agent.Pause
	// Decision is the proposed decision, without a name; nil unless the act is ActDecide.
	Decision *agent.Decision
}

// A Decided is a recorded decision.
type Decided struct {
	Agent   *agent.Agent // nil for a run of plans
	Session string       // or the name of the run of plans
	ID      string
	Kind    agent.DecisionKind
	User    string // who has decided
}

// A ConfigError says what is wrong with a [Config]. Its class is permanent, because only a change
// of the program helps.
type ConfigError struct {
	Field   string // which field of the Config
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "approvals: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Fault returns permanent.
func (e *ConfigError) Fault() fault.Class { return fault.Permanent }

// A Handler lists open items and records decisions over HTTP: see the package comment for its
// paths. Make one with [New]. It is safe for concurrent use.
type Handler struct {
	cfg  Config
	log  *slog.Logger
	next http.Handler
}

// New returns a handler. The error is a *[ConfigError].
func New(cfg Config) (*Handler, error) {
	switch {
	case cfg.Authorize == nil:
		return nil, &ConfigError{Field: "Authorize",
			Problem: "it is nil, so that nobody could be told from anybody; say who may see and decide what"}
	case cfg.Store == nil:
		return nil, &ConfigError{Field: "Store", Problem: "it is nil; give the journal of the agents"}
	case len(cfg.Agents) == 0:
		return nil, &ConfigError{Field: "Agents", Problem: "it is empty; give the agents by their names"}
	case cfg.MaxBody < 0 || cfg.MaxPage < 0:
		return nil, &ConfigError{Field: "MaxBody or MaxPage", Problem: "it is negative; 0 is the default"}
	}
	for name, a := range cfg.Agents {
		if a == nil {
			return nil, &ConfigError{Field: "Agents", Problem: fmt.Sprintf("%q is nil", name)}
		}
	}
	sites := http.NewCrossOriginProtection()
	for _, o := range cfg.Origins {
		if err := sites.AddTrustedOrigin(o); err != nil {
			return nil, &ConfigError{Field: "Origins", Problem: err.Error(), Err: err}
		}
	}
	h := &Handler{cfg: cfg, log: cfg.Logger}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.cfg.MaxBody == 0 {
		h.cfg.MaxBody = DefaultMaxBody
	}
	if h.cfg.MaxPage == 0 {
		h.cfg.MaxPage = DefaultMaxPage
	}
	if h.cfg.MaxMessages == 0 {
		h.cfg.MaxMessages = DefaultMaxMessages
	}
	sites.SetDenyHandler(h.handle(func(http.ResponseWriter, *http.Request) *problem {
		return fail(http.StatusForbidden, CodeCrossSite, "a page of another site makes this request")
	}))
	h.next = sites.Handler(h.routes())
	return h, nil
}

// errNoHandler is the cause of the answers of a Handler that New didn't make.
var errNoHandler = &ConfigError{Field: "Authorize", Problem: "this Handler is nil or empty; make one with New"}

// ServeHTTP answers a request. A nil or empty Handler answers with status 500 and the code
// "internal".
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h == nil || h.next == nil {
		(&Handler{log: slog.New(slog.DiscardHandler)}).say(w, r, internal(errNoHandler))
		return
	}
	request.Limit(w, r)
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	switch r.URL.EscapedPath() {
	case "/", "/item", "/decide", "/rules":
		h.next.ServeHTTP(w, r)
	default: // before a ServeMux would redirect to a cleaned path
		h.say(w, r, fail(http.StatusNotFound, CodeUnknown, "there is no such path"))
	}
}

func (h *Handler) routes() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		path  string
		allow string
	}{{"/{$}", "GET, HEAD, OPTIONS"}, {"/item", "GET, HEAD, OPTIONS"}, {"/decide", "POST, OPTIONS"},
		{"/rules", "GET, HEAD, DELETE, OPTIONS"}} {
		mux.Handle(route.path, h.handle(func(w http.ResponseWriter, r *http.Request) *problem {
			w.Header().Set("Allow", route.allow)
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
			return fail(http.StatusMethodNotAllowed, CodeMethod, "the methods here are %s", route.allow)
		}))
	}
	mux.Handle("GET /{$}", h.handle(h.list))
	mux.Handle("GET /item", h.handle(h.item))
	mux.Handle("POST /decide", h.handle(h.decide))
	mux.Handle("GET /rules", h.handle(h.rules))
	mux.Handle("DELETE /rules", h.handle(h.revoke))
	return mux
}

// handle returns f, which answers a request or returns why not, as a handler.
func (h *Handler) handle(f func(http.ResponseWriter, *http.Request) *problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := f(w, r); p != nil {
			h.say(w, r, p)
		}
	})
}

// A page is the body of the answer to a list.
type page struct {
	Items []Open `json:"items"`
	Next  string `json:"next,omitempty"` // the value of ?after= for what follows
}

// list responds with the open items that the user may see. A page ends with all items of a session,
// and only a session that the user may see is named.
func (h *Handler) list(w http.ResponseWriter, r *http.Request) *problem {
	q, p := query(r, "prefix", "kind", "tool", "for", "before", "after", "limit")
	if p != nil {
		return p
	}
	f := Filter{Prefix: q["prefix"], Kind: agent.PauseKind(q["kind"]), Tool: q["tool"], For: q["for"],
		After: q["after"], Plans: h.cfg.Plans != nil}
	if s := q["before"]; s != "" {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return fail(http.StatusBadRequest, CodeMalformed, `"before" has to be a time such as 2006-01-02T15:04:05Z`)
		}
		f.Before = t
	}
	limit, p := number(q, "limit", h.cfg.MaxPage)
	if p != nil {
		return p
	}
	if limit == 0 {
		limit = h.cfg.MaxPage
	}
	out := page{Items: []Open{}}
	for o, err := range List(r.Context(), h.cfg.Store, f) {
		switch {
		case err != nil && o.Session == "":
			return failed(err)
		case err != nil: // the items that its head shows follow
			h.log.ErrorContext(r.Context(), "approvals: a session with many open items can't be read",
				"session", o.Session, "error", err)
			continue
		}
		if _, err := h.may(r, o.item(), ActList); err != nil {
			continue
		}
		if n := len(out.Items); n >= limit && out.Items[n-1].Session != o.Session {
			out.Next = out.Items[n-1].Session
			break
		}
		out.Items = append(out.Items, o)
	}
	answer(w, http.StatusOK, out)
	return nil
}

// item answers with one item.
func (h *Handler) item(w http.ResponseWriter, r *http.Request) *problem {
	q, p := query(r, "session", "id", "messages")
	if p != nil {
		return p
	}
	messages, p := number(q, "messages", max(h.cfg.MaxMessages, 0))
	if p != nil {
		return p
	}
	d, _, p := h.seen(r, q["session"], q["id"], messages)
	if p != nil {
		return p
	}
	answer(w, http.StatusOK, d)
	return nil
}

// seen returns an item that the user may see, and the authorizer's Item for it. A missing item and
// one that the user may not see are treated alike.
func (h *Handler) seen(r *http.Request, session, id string, messages int) (*Detail, Item, *problem) {
	d, err := h.find(r.Context(), session, id, messages)
	if err != nil {
		return nil, Item{}, h.unreadable(r, err, id)
	}
	asked := d.Pause // a copy, so that the authorizer can't change the item
	item := Item{
		Session: session, ID: id, Kind: d.Pause.Kind, Tool: d.Pause.Call.Name, Reason: d.Pause.Reason,
		For: d.Pause.For, Expires: d.Pause.Expires,
		Agent: d.Agent, Pause: &asked,
	}
	if _, err := h.may(r, item, ActView); err != nil {
		return nil, Item{}, unknown()
	}
	return d, item, nil
}

// unreadable returns the answer to a request for an item of a session that couldn't be read. Those
// who may see the item in a list, for which no log is read, get the error. To all others it is as
// if there were no such session.
func (h *Handler) unreadable(r *http.Request, err error, id string) *problem {
	var u *unreadableError
	if !errors.As(err, &u) {
		return failed(err)
	}
	item := Item{Session: u.head.Session, ID: id}
	for i := range u.head.Open {
		if o := opened(u.head, &u.head.Open[i], time.Now()); o.ID == id {
			item = o.item()
		}
	}
	if _, denied := h.may(r, item, ActList); denied != nil {
		return h.hidden(r, err)
	}
	return failed(err)
}

// hidden logs an error that the user isn't told.
func (h *Handler) hidden(r *http.Request, err error) *problem {
	h.log.WarnContext(r.Context(),
		"approvals: a request for a session that can't be read, by somebody who may not see it", "error", err)
	return unknown()
}

// may calls the authorizer. A panic denies the act.
func (h *Handler) may(r *http.Request, item Item, act Act) (user string, err error) {
	defer func() {
		if p := recover(); p != nil {
			user, err = "", fmt.Errorf("approvals: Config.Authorize panicked: %v", p)
			h.log.ErrorContext(r.Context(), "approvals: authorizer", "act", string(act), "error", err)
		}
	}()
	return h.cfg.Authorize(r, item, act)
}

// query returns the values of a request's query: each key at most once, and none but these.
func query(r *http.Request, keys ...string) (map[string]string, *problem) {
	out := make(map[string]string, len(keys))
	for _, k := range keys {
		out[k] = ""
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the query isn't well escaped")
	}
	for k, v := range values {
		if _, known := out[k]; !known || len(v) != 1 {
			return nil, fail(http.StatusBadRequest, CodeMalformed,
				"the query has %q, which isn't a key of it or is there twice", cut(k, 40))
		}
		out[k] = v[0]
	}
	return out, nil
}

// number returns a number of a query from 0, the default, to most.
func number(q map[string]string, key string, most int) (int, *problem) {
	if q[key] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(q[key])
	if err != nil || n < 0 {
		return 0, fail(http.StatusBadRequest, CodeMalformed, "%q has to be a number from 0 to %d", key, most)
	}
	return min(n, most), nil
}
