package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A Plan is what a user with a subscription plan may use.
type Plan struct {
	PerMinute, PerHour int   // requests to the agent
	PipelinesPerDay    int   // sequences of several tools; trying again counts
	Pipelines          int   // at the same time
	Tokens             int64 // in a calendar month (UTC)
}

// Plans returns the usual plans by their names.
func Plans() map[string]Plan {
	return map[string]Plan{"free": {10, 100, 20, 2, 50_000}, "pro": {10, 100, 20, 2, 500_000},
		"enterprise": {10, 100, 20, 2, 5_000_000}}
}

// stepTokens is what a tool of a pipeline is expected to use. A pipeline that doesn't fit into what
// is left of the month isn't begun.
const stepTokens = 6_000

// Limits are what users may use. Make it with [NewLimits]. It is safe for concurrent use.
type Limits struct {
	plans     map[string]Plan
	requests  map[string]*ratelimit.Allowance // by plan
	pipelines map[string]*ratelimit.Allowance
	tokens    *budget.Budget

	mu       sync.Mutex
	expected map[string]int64 // tokens of the pipelines in progress, by user
	known    map[string]bool  // users whose budgets are set
	store    *portfolio.Store // nil before load
}

// NewLimits returns limits by subscription plan; nil: [Plans].
func NewLimits(plans map[string]Plan) *Limits {
	if plans == nil {
		plans = Plans()
	}
	l := &Limits{plans: plans, requests: map[string]*ratelimit.Allowance{},
		pipelines: map[string]*ratelimit.Allowance{}, tokens: budget.New(budget.Config{}), expected: map[string]int64{},
		known: map[string]bool{}}
	for name, p := range plans {
		l.requests[name] = ratelimit.NewAllowance(ratelimit.AllowanceConfig{Windows: []ratelimit.AllowanceWindow{
			{Max: p.PerMinute, Per: time.Minute}, {Max: p.PerHour, Per: time.Hour}}})
		l.pipelines[name] = ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: p.PipelinesPerDay,
			Concurrent: p.Pipelines})
	}
	return l
}

// load sets the budgets of all users, with what they have used this month.
func (l *Limits) load(ctx context.Context, store *portfolio.Store) error {
	l.mu.Lock()
	l.store = store
	l.mu.Unlock()
	users, err := store.Users(ctx)
	for _, u := range users {
		err = errors.Join(err, l.know(ctx, u))
	}
	return err
}

// know sets the budget of a user, unless that is done.
func (l *Limits) know(ctx context.Context, u portfolio.User) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[u.ID] {
		return nil
	}
	p, ok := l.plans[u.Plan]
	if !ok {
		return fmt.Errorf("the user %s has the plan %q, which has no limits", u.ID, u.Plan)
	}
	used, err := l.store.Tokens(ctx, u.ID, time.Now())
	if err != nil {
		return err
	}
	l.tokens.SetLimit(budget.ScopeUser, u.ID, budget.Limit{Tokens: p.Tokens, Period: budget.Month})
	l.tokens.Seed(budget.Names{User: u.ID}, used, 0)
	l.known[u.ID] = true
	return nil
}

// once says that the limits don't make a call again: what they are around does that.
var once = map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}, fault.RateLimited: {Attempts: 1},
	fault.Degraded: {Attempts: 1}}

// Model returns a model whose calls count towards the tokens of their users.
func (l *Limits) Model(p provider.Provider) (provider.Provider, error) {
	return guard.New(p, guard.Config{Name: "limits", Retry: once, Budget: l.tokens,
		Ledger: budget.NewLedger(budget.LedgerConfig{Keep: -1, Sink: l.record})})
}

// record keeps what a call has used, for the next process.
func (l *Limits) record(e budget.Entry) {
	l.mu.Lock()
	store := l.store
	l.mu.Unlock()
	if store != nil && e.User != "" {
		// A call that can't be recorded has been made all the same; what fails here fails for the
		// artifact, too.
		_ = store.AddTokens(context.Background(), e.User, time.Now(), e.Tokens())
	}
}

// Admit admits a sequence of tools for a user, until release is called. A single tool is always
// admitted, if there are tokens for it.
func (l *Limits) Admit(ctx context.Context, u portfolio.User, names []string) (release func(), err error) {
	wants := int64(len(names)) * stepTokens
	open := func() {}
	if err = l.expect(u, wants); err == nil && len(names) > 1 {
		if open, err = l.pipelines[u.Plan].Take(ctx, u.ID); err != nil {
			l.done(u.ID, wants)
		}
	}
	return func() {
		open()
		l.done(u.ID, wants)
	}, refused(err, "pipelines")
}

// expect counts tokens that a pipeline is going to use, if there are so many.
func (l *Limits) expect(u portfolio.User, tokens int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.tokens.Remaining(budget.Names{User: u.ID}).Tokens; left < tokens+l.expected[u.ID] {
		limit := l.plans[u.Plan].Tokens
		return portfolio.Errorf(portfolio.RateLimitExceeded,
			"Monthly token limit reached: this needs about %d tokens, and %d of %d are left in the plan %s. Upgrade "+
				"your plan, or wait for the next month.",
			tokens, max(0, left-l.expected[u.ID]), limit, u.Plan)
	}
	l.expected[u.ID] += tokens
	return nil
}

func (l *Limits) done(user string, tokens int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected[user] -= tokens
}

// request counts a request to the agent, and tells the client what is left.
func (l *Limits) request(w http.ResponseWriter, r *http.Request, u portfolio.User) error {
	_, err := l.requests[u.Plan].Take(r.Context(), u.ID)
	status, failed := l.requests[u.Plan].Status(r.Context(), u.ID)
	if failed == nil && len(status) > 0 {
		w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(status[0].Remaining))
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(status[0].Reset.Unix()))
	}
	return refused(err, "requests")
}

// refused returns the error of an allowance for the client.
func refused(err error, what string) error {
	full, ok := errors.AsType[*ratelimit.AllowanceError](err)
	if !ok {
		return err
	}
	text := fmt.Sprintf("you can make %d %s in %v. Please wait.", full.Limit, what, full.Per)
	switch full.Kind {
	case ratelimit.AllowancePerDay:
		text = fmt.Sprintf("you can start %d %s in a day. Please wait until tomorrow.", full.Limit, what)
	case ratelimit.AllowanceConcurrent:
		text = fmt.Sprintf("%d %s are in progress. Please wait until one of them has ended.", full.Limit, what)
	}
	return &portfolio.Error{Category: portfolio.RateLimitExceeded, Message: "Rate limit exceeded: " + text, Err: full}
}

// Used returns which part of this month's tokens a user has used, from 0 to 1.
func (l *Limits) Used(user string) float64 {
	month := l.tokens.Status(budget.ScopeUser, user)
	return float64(month.Spent.Tokens) / float64(max(month.Limit.Tokens, 1))
}

// me says who the user is and what is left.
func (s *Server) me(c *call) (any, error) {
	type left struct {
		Kind      ratelimit.AllowanceKind `json:"kind"`
		Seconds   int                     `json:"seconds"` // the length of the window; 0 for other kinds
		Limit     int                     `json:"limit"`
		Remaining int                     `json:"remaining"`
	}
	all := []left{}
	for _, a := range []*ratelimit.Allowance{s.cfg.Limits.requests[c.user.Plan], s.cfg.Limits.pipelines[c.user.Plan]} {
		status, err := a.Status(c.Context(), c.user.ID)
		if err != nil {
			return nil, err
		}
		for _, one := range status {
			all = append(all, left{one.Kind, int(one.Per.Seconds()), one.Limit, one.Remaining})
		}
	}
	month := s.cfg.Limits.tokens.Status(budget.ScopeUser, c.user.ID)
	session, err := s.Conversation(c.Context(), c.user.ID, assistant.Main, false)
	return map[string]any{"session": session, "user": c.user, "admin": s.isAdmin(c.user) == nil, "limits": all,
		"model":  s.cfg.Model,
		"tokens": map[string]int64{"limit": month.Limit.Tokens, "used": month.Spent.Tokens}}, err
}
