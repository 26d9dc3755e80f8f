package team

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Member is an agent that works in the background.
type Member struct {
	// Hub runs its work. Its agent may have a journal of its own, and must not have the tools of a
	// team.
	Hub   *live.Hub
	About string // what it is for, in words for the model of the lead
}

// A Config configures a [Team]. Only Members is required.
type Config struct {
	// Members are those that work, by the names that the model of the lead uses: at most 64 lower
	// case letters, digits, '_' and '-' each.
	Members map[string]Member
	// Parallel is how many pieces of work this process drives at a time; 0: 8. One that a person
	// decides on goes on at once, beyond that.
	Parallel int
	// Rounds is how many reports in a row a conversation gets without a message of a person. The
	// last one asks the lead to tell the person. Those after it wait, and so start nothing; they
	// are delivered after the next message of a person. 0: 10; less than 0: no limit.
	Rounds int
	// Every is the time between two searches for work that is due, has ended, or asks; 0: 500 ms.
	Every  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

// A Team has members that work in the background for the conversations of a lead: see the package.
// Make one with [New]. It is safe for concurrent use.
type Team struct {
	cfg Config // fixed at creation
}

var memberName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// New returns a team, which does nothing before [Team.Run]. The error is an *[agent.ArgError].
func New(cfg Config) (*Team, error) {
	if len(cfg.Members) == 0 || cfg.Parallel < 0 || cfg.Every < 0 {
		return nil, &agent.ArgError{Field: "Config", Problem: fmt.Sprintf("it has %d Members, Parallel %d and Every %v; "+
			"give at least one member, and 0 for the defaults", len(cfg.Members), cfg.Parallel, cfg.Every)}
	}
	for name, m := range cfg.Members {
		a := m.Hub.Agent()
		if _, nested := a.Tools().Lookup(toolStart); a == nil || nested || !memberName.MatchString(name) {
			return nil, &agent.ArgError{Field: "Config.Members", Problem: fmt.Sprintf("the member %q needs a name of "+
				"at most 64 lower case letters, digits, '_' and '-', and a Hub whose agent hasn't the tool %s, because "+
				"a member can't start members", name, toolStart)}
		}
	}
	cfg.Members, cfg.Logger = maps.Clone(cfg.Members), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Parallel, cfg.Every = cmp.Or(cfg.Parallel, 8), cmp.Or(cfg.Every, 500*time.Millisecond)
	cfg.Rounds = cmp.Or(cfg.Rounds, 10)
	return &Team{cfg: cfg}, nil
}

// A Work is a piece of work that a member does in the background.
type Work struct {
	ID      string // as the tools take it, in its conversation
	Member  string
	Session string         // of the member's agent
	Task    string         // in one line
	Status  agent.Status   // of its run
	Pending int            // how many decisions it waits for
	Cost    provider.Money // when its run last started, paused or ended

	head journal.Head
	hub  *live.Hub
}

// Open returns the work of a conversation whose end isn't reported to it yet, the oldest first.
func (t *Team) Open(ctx context.Context, session string) ([]Work, error) {
	if t == nil || ctx == nil {
		return nil, errNoTeam
	}
	list, err := t.list(ctx, journal.Filter{Parent: session})
	return slices.DeleteFunc(list, func(w Work) bool { return w.head.Labels[labelWork] != unreported }), err
}

// Stop stops all work of a conversation whose run hasn't ended, whether or not the conversation has
// a run in progress: [live.Hub.Cancel] stops a run of the conversation, and the work with it, but
// an idle one has none. The conversation is told by reports as ever. Work that another process
// drives stops at its next safe point. Stop tries all of it and returns how many pieces it has
// stopped, with the errors of the others.
func (t *Team) Stop(ctx context.Context, session string) (stopped int, err error) {
	list, err := t.Open(ctx, session)
	for _, w := range list {
		if w.ended() {
			continue
		}
		switch failed := w.hub.Cancel(ctx, w.Session); {
		case failed == nil:
			stopped++
		case !errors.Is(failed, agent.ErrNothingOpen): // it has ended meanwhile
			err = errors.Join(err, failed)
		}
	}
	return stopped, err
}

var errNoTeam = &agent.ArgError{Field: "Team", Problem: "it, its lead or the context is nil; see team.New and live.New"}

// Labels of the sessions of work, and values of the first.
const (
	labelWork = "team.work"
	labelRun  = "team.run" // the run that has started the work

	unreported = "unreported"
	reported   = "reported"
)

// prefix begins the names of the sessions of work. A hash of the session of the lead follows, and
// the id, which is the name of the member and a hash of the key of the call. So a call starts one
// piece of work, however often it runs.
const prefix = "team/"

func sessionOf(lead, id string) string { return prefix + hash(lead) + "/" + id }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// workOf returns the work with that head.
func (t *Team) workOf(h journal.Head) Work {
	id := h.Session[strings.LastIndexByte(h.Session, '/')+1:]
	member := id[:max(strings.LastIndexByte(id, '-'), 0)]
	return Work{ID: id, Member: member, Session: h.Session, Task: h.Title, Status: agent.Status(h.Status),
		Pending: len(h.Open), Cost: machine.InfoOf(&h).Cost, head: h, hub: t.cfg.Members[member].Hub}
}

// list lists work, the oldest first. Sessions that can't be read are left out, and copies of
// sessions. If a journal can't be read, the work in the others is listed, with the error.
func (t *Team) list(ctx context.Context, f journal.Filter) (list []Work, failed error) {
	f.NoKind = true
	for name, m := range t.cfg.Members {
		for h, err := range m.Hub.Agent().Journal().Heads(ctx, f) {
			if err != nil && h.Session == "" {
				failed = errors.Join(failed, fmt.Errorf("team: listing the work of %s: %w", name, err))
			}
			if w := t.workOf(h); err == nil && w.Member == name && w.Session == sessionOf(h.Parent, w.ID) {
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b Work) int {
		return cmp.Or(a.head.Created.Compare(b.head.Created), cmp.Compare(a.ID, b.ID))
	})
	return list, failed
}

// find returns the work of a conversation with an id, and its result so far.
func (t *Team) find(ctx context.Context, lead, id string) (w Work, res *agent.Result, err error) {
	list, err := t.list(ctx, journal.Filter{Parent: lead})
	for _, w := range list {
		if w.ID == id {
			res, err = w.session().Result(ctx)
			return w, res, err
		}
	}
	return w, nil, cmp.Or(err, fault.Errorf(fault.NotFound, "there is no work %q here; %s lists it", id, toolStatus))
}

// ended reports whether its run has ended.
func (w Work) ended() bool {
	return w.Status != agent.Queued && w.Status != agent.Running && w.Status != agent.Paused
}

// input returns the run whose tree the work is in. The conversation that started the work uses it.
func (w Work) input() string { return w.head.Labels[machine.TreeLabel] }

// asks reports whether it waits for a person, and nobody has decided since.
func (w Work) asks() bool {
	return w.Status == agent.Paused && w.head.Inbox == 0 &&
		slices.ContainsFunc(w.head.Open, func(o journal.Open) bool { return o.For == "" })
}

// standing says in words how the work stands.
func (w Work) standing() string {
	if w.ended() || len(w.head.Open) == 0 || w.head.Inbox > 0 {
		return string(w.Status)
	}
	if slices.ContainsFunc(w.head.Open, func(o journal.Open) bool { return o.Kind == string(machine.PauseApproval) }) {
		return "waiting for a permission"
	}
	return "waiting for an answer"
}

// askKey returns the idempotency key of the call that asks what it waits for.
func (w Work) askKey() string {
	key := "team.ask"
	for _, o := range w.head.Open {
		key += "/" + o.ID
	}
	return key
}

func (w Work) session() *agent.Session { return w.hub.Agent().Session(w.Session) }
