package live

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// storeTime is how long recording a decision may take after it has begun, even if ctx has ended.
const storeTime = 30 * time.Second

// Decide takes decisions on what a session waits for, and resumes the run: see [agent.Resume]. If
// one is refused, none is taken. While the run is in progress, or when the hub is closed, the
// decisions are stored for whoever drives the session, and the Started has only its name. The end
// of ctx doesn't keep a decision from being recorded, for 30 s.
//
// A decision on what was decided before is an *[agent.DecisionError] with the code
// [machine.DecisionUsed], or [machine.DecisionExpired] if nobody decided in time, whether or not a
// run is still open; one on what the session never asked has [machine.DecisionUnknown].
func (h *Hub) Decide(ctx context.Context, session string, ds ...agent.Decision) (Started, error) {
	if h == nil || h.topics == nil {
		return Started{}, errNoHub
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	started, err := h.Start(ctx, agent.Resume(session, ds...))
	if errors.Is(err, agent.ErrBusy) || errors.Is(err, ErrClosed) || errors.Is(err, agent.ErrDraining) {
		started, err = Started{Session: session}, h.cfg.Agent.Session(session).Decide(ctx, ds...)
		h.poke(session) // the run may have looked for decisions for the last time, and pause
	}
	if err != nil {
		if e, ok := errors.AsType[*agent.DecisionError](err); ok && e.Code == machine.DecisionUsed {
			h.poke(session) // this may have taken what was posted before, and nobody drives the run
		}
		return Started{}, h.refused(ctx, session, ds, err)
	}
	return started, nil
}

// refused says of decisions that can't be taken whether one was made before, or too late, or there
// was never such a pause. Other errors stay as they are.
func (h *Hub) refused(ctx context.Context, session string, ds []agent.Decision, err error) error {
	decision, ok := errors.AsType[*agent.DecisionError](err)
	used := ok && decision.Code == machine.DecisionUsed
	own, ended := errors.AsType[*agent.SessionError](err)
	if ended = ended && own.Code == agent.ErrNothingOpen && own.Status != ""; !used && !ended {
		return err
	}
	asked, failed := h.Asked(ctx, session)
	if failed != nil {
		return err
	}
	for i := range ds {
		one, known := asked[ds[i].ID]
		out := &agent.DecisionError{Session: session, ID: ds[i].ID}
		switch {
		case used && (ds[i].ID != decision.ID || !known), known && one.Decided == nil: // or its log was pruned
			continue
		case !known:
			out.Code, out.Problem = machine.DecisionUnknown, "no pause in this session has this id"
		case one.Decided.Decision.Kind == machine.Expired:
			out.Code, out.Problem = machine.DecisionExpired, "nobody decided in time"
		default:
			out.Code, out.Problem = machine.DecisionUsed, "the pause was decided before"
		}
		return out
	}
	return err
}

// An Asked is a pause of a session.
type Asked struct {
	Pause   agent.Pause      // only its ID is known if the log was pruned since
	Decided *machine.Decided // nil: the session hasn't read a decision on it
}

// Asked returns all pauses that the log of a session has, open or not, by their ids: so a host
// learns whether a decision was made before, and which. It reads the log. An unknown session has
// none.
func (h *Hub) Asked(ctx context.Context, session string) (map[string]Asked, error) {
	if h == nil || h.topics == nil {
		return nil, errNoHub
	}
	facts, err := h.cfg.Agent.Session(session).Facts(ctx)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]Asked)
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.Suspended:
			for _, p := range f.Pause.Flat() {
				asked[p.ID] = Asked{Pause: p, Decided: asked[p.ID].Decided}
			}
		case *machine.Decided:
			one := asked[f.Decision.ID]
			one.Pause.ID, one.Decided = f.Decision.ID, f
			asked[f.Decision.ID] = one
		}
	}
	return asked, nil
}

// Owned returns what is known of a session that a user names, if it is theirs. A session that
// doesn't exist is an [agent.ErrNothingOpen]: they may begin it. One that belongs to somebody else
// is an [agent.ErrNotOwner], and what is known of it is returned, too. So is one that nobody may
// name, such as that of a subagent or of a run that nobody has named; nothing is returned of that.
func (h *Hub) Owned(ctx context.Context, session, user string) (agent.SessionInfo, error) {
	if h == nil || h.topics == nil {
		return agent.SessionInfo{}, errNoHub
	}
	notTheirs := &agent.SessionError{Session: session, Code: agent.ErrNotOwner}
	if session == "" || strings.HasPrefix(session, machine.UnnamedPrefix) ||
		strings.HasPrefix(session, machine.ChildPrefix) {
		return agent.SessionInfo{}, notTheirs
	}
	info, err := h.cfg.Agent.Session(session).Info(ctx)
	switch {
	case err != nil:
		return agent.SessionInfo{}, err
	case info.Parent != "":
		return agent.SessionInfo{}, notTheirs
	case info.Owner != user:
		return info, notTheirs
	}
	return info, nil
}
