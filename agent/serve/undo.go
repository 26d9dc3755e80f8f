package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// undoTime is how long an undo may take after it has begun, even if the client has disconnected.
const undoTime = 5 * time.Minute

// An undoBody is the body of POST sessions/undo.
type undoBody struct {
	Session string `json:"session"`
	Run     string `json:"run"` // empty: the newest
}

// An undoAnswer says what was undone, or would be, and what stays. Both are in the order in which
// the calls are undone, the newest first.
type undoAnswer struct {
	Session string       `json:"session"`
	Run     string       `json:"run"`
	Undone  []undoneCall `json:"undone"`
	Stays   []undoneCall `json:"stays"`
	// Pruned says that the run has made earlier calls that aren't recorded any more.
	Pruned bool `json:"pruned,omitempty"`
}

// An undoneCall is a call in an undoAnswer.
type undoneCall struct {
	Call  string `json:"call"`
	Name  string `json:"name"`
	Title string `json:"title"`         // what it has done, in words
	Why   string `json:"why,omitempty"` // why its effect stays
}

// undoable says what an undo of a run would do.
func (s *server) undoable(w http.ResponseWriter, r *http.Request, _ string) *problem {
	g, q, p := s.named(r, ActionRead, "run")
	if p != nil {
		return p
	}
	return s.answerUndo(r.Context(), w, g, agent.Rollback{Run: q["run"], User: g.user, DryRun: true})
}

// undo undoes what a run has done.
func (s *server) undo(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body undoBody
	if p := s.decode(w, r, &body); p != nil {
		return p
	}
	g, p := s.allow(r, body.Session, ActionControl)
	if p != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), undoTime)
	defer cancel()
	return s.answerUndo(ctx, w, g, agent.Rollback{Run: body.Run, User: g.user})
}

func (s *server) answerUndo(ctx context.Context, w http.ResponseWriter, g *grant, what agent.Rollback) *problem {
	rec, err := g.session.Undo(ctx, what)
	if errors.Is(err, agent.ErrCannotUndo) {
		return s.whyNot(ctx, g)
	}
	if err != nil {
		return failed(err)
	}
	answer(w, http.StatusOK, undoAnswer{Session: g.session.ID(), Run: rec.Run, Undone: s.undoneCalls(ctx, rec.Undone),
		Stays: s.undoneCalls(ctx, rec.Stays()), Pruned: rec.Pruned})
	return nil
}

// whyNot says why a session can't be undone.
func (s *server) whyNot(ctx context.Context, g *grant) *problem {
	info, err := g.session.Info(ctx)
	switch {
	case err != nil:
		return failed(err)
	case info.Pending > 0:
		return fail(http.StatusConflict, CodePaused, fault.Invalid,
			"the session waits for %d decisions; decide on them before anything is undone", info.Pending)
	case info.Status == agent.Running || info.Status == agent.Paused:
		return fail(http.StatusConflict, codeBusy, fault.Transient,
			"a run is in progress; stop it, or wait for its end, before anything is undone")
	}
	return fail(http.StatusConflict, CodeBad, fault.Invalid,
		"the session's log doesn't have the run, or is a copy of the one in which the run took place; undo it there")
}

func (s *server) undoneCalls(ctx context.Context, calls []machine.UndoneCall) []undoneCall {
	out := make([]undoneCall, len(calls))
	for i, c := range calls {
		title := tools.TitleOf(c.Call.Name, c.Call.Input)
		if d, ok := s.agent.Tools().Lookup(c.Call.Name); ok {
			title = tools.CleanTitle(d.Title(ctx, c.Call.Input))
		}
		out[i] = undoneCall{c.Call.ID, c.Call.Name, title, c.Why}
	}
	return out
}
