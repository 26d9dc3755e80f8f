package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
)

// An ApprovalsConfig configures [Approvals]. Store and Authorize are required.
type ApprovalsConfig struct {
	// Store, Agents and Plans are as in [approvals.Inbox]. With nil for Agents, the process needs
	// no agent: the one that runs the session checks what was decided.
	Store  journal.Store
	Agents map[string]*agent.Agent
	Plans  *plan.Runner
	// Authorize decides whether the user who makes a request may do something with an item, and
	// returns the user's name, which is recorded with a decision. An error denies it; one that says
	// that it may go away, such as [ErrTryAgain], is answered with 503 instead. The actions are
	//   - ActionList: see the item in a list, or learn that its session can't be read;
	//   - ActionRead: see the item in full;
	//   - ActionDecide: make Item.Decision; asked only about users who may read the item.
	//
	// It may be called from several goroutines at a time, and for a list once for each open item. A
	// panic denies, too, and is logged.
	Authorize func(r *http.Request, item Item, action Action) (user string, err error)
	// OnDecided, if it isn't nil, is called with each recorded decision, before the response. It
	// must return at once: let it wake a goroutine that calls [agent.Agent.Recover]. Runs of plans
	// go on by themselves ([plan.Runner.Serve]). Its context outlives the request. A panic is
	// logged and changes nothing.
	OnDecided func(ctx context.Context, d Decided)

	Origins []string     // as in [Config]
	Logger  *slog.Logger // as in [Config]
}

// An Item is what the Authorize of an [ApprovalsConfig], or the AuthorizeItem of a [Config],
// decides about.
type Item struct {
	Session string // or the name of the run of plans
	ID      string
	Kind    agent.PauseKind
	Tool    string
	Reason  string
	For     string // who decides, if that isn't a person: see tools.Suspend
	Expires time.Time
	// Agent is the name of the session's agent; unknown (empty) in lists, and if the session's log
	// can't be read.
	Agent string
	// Pause has all details; nil in lists.
	Pause *agent.Pause
	// Decision is the proposed decision, without a name; nil unless the action is ActionDecide.
	Decision *agent.Decision
}

// A Decided is a decision that [Approvals] has recorded.
type Decided struct {
	Agent   *agent.Agent // nil for a run of plans, and without ApprovalsConfig.Agents
	Session string       // or the name of the run of plans
	ID      string
	Kind    agent.DecisionKind
	User    string // who has decided
}

const (
	approvalsBody     = 64 << 10 // bytes of a body
	approvalsPage     = 100      // items on a page, not counting further ones of the last session
	approvalsMessages = 20       // of a conversation, with an item
)

// Approvals returns a handler with what waits for people in all sessions of a store, of several
// agents and without a hub: see the package comment for its paths. A decision is recorded and takes
// effect when the session is resumed, in this process or in another; see [agent.Agent.Recover]. The
// error is a *[agent.ArgError].
func Approvals(cfg ApprovalsConfig) (http.Handler, error) {
	switch {
	case cfg.Authorize == nil:
		return nil, &agent.ArgError{Func: "serve.Approvals", Field: "Config.Authorize",
			Problem: "it is nil, so that nobody could be told from anybody; say who may see and decide what"}
	case cfg.Store == nil:
		return nil, &agent.ArgError{Func: "serve.Approvals", Field: "Config.Store",
			Problem: "it is nil; give the journal of the agents"}
	case cfg.Agents != nil && len(cfg.Agents) == 0:
		return nil, &agent.ArgError{Func: "serve.Approvals", Field: "Config.Agents",
			Problem: "it is empty; give the agents by their names, or nil to record decisions without an agent"}
	}
	for name, a := range cfg.Agents {
		if a == nil {
			return nil, &agent.ArgError{Func: "serve.Approvals", Field: "Config.Agents",
				Problem: fmt.Sprintf("%q is nil", name)}
		}
	}
	s := &server{cfg: Config{MaxBody: approvalsBody, Origins: cfg.Origins, Logger: cfg.Logger}}
	if err := s.common(); err != nil {
		return nil, err
	}
	i := &inbox{s, cfg, &approvals.Inbox{Store: cfg.Store, Agents: cfg.Agents, Plans: cfg.Plans}}
	rt := &router{server: s, paths: make(map[string]map[string]handler)}
	rt.add(http.MethodGet, "/", i.list)
	rt.add(http.MethodGet, "/item", i.item)
	rt.add(http.MethodPost, "/decide", i.decide)
	return rt, nil
}
