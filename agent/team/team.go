package team

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Member is an agent that works in the background.
type Member struct {
	// Hub runs its work. Its agent may have a journal of its own, and hasn't the tools of a team.
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
	// Every is the time between two looks at what work has become due, has ended, or waits; 0: 1 s.
	// What this process starts and ends is looked at at once.
	Every  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

const (
	defaultParallel = 8
	defaultEvery    = time.Second
)

// A Team has members that work in the background for the conversations of a lead: see the package.
// Make one with [New]. It is safe for concurrent use.
type Team struct {
	cfg      Config        // fixed at creation
	wake     chan struct{} // has an entry if [Team.Run] is to look at once
	charging sync.Mutex    // held while costs are charged to a call
}

var memberName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// New returns a team, which does nothing before [Team.Run]. The error is an *[agent.ArgError].
func New(cfg Config) (*Team, error) {
	wrong := func(problem string, args ...any) (*Team, error) {
		return nil, &agent.ArgError{Field: "Config", Problem: fmt.Sprintf(problem, args...)}
	}
	if len(cfg.Members) == 0 || cfg.Parallel < 0 || cfg.Every < 0 {
		return wrong("it has %d Members, Parallel %d and Every %v; give at least one member, and 0 for %d and %v",
			len(cfg.Members), cfg.Parallel, cfg.Every, defaultParallel, defaultEvery)
	}
	for name, m := range cfg.Members {
		if !memberName.MatchString(name) {
			return wrong("the member's name %q isn't one of at most 64 lower case letters, digits, '_' and '-'", name)
		}
		if m.Hub.Agent() == nil {
			return wrong("the member %q has no Hub; make one with live.New", name)
		}
		if _, nested := m.Hub.Agent().Tools().Lookup(toolStart); nested {
			return wrong("the member %q has the tool %s, but a member can't start members", name, toolStart)
		}
	}
	cfg.Members = maps.Clone(cfg.Members)
	cfg.Parallel, cfg.Every = cmp.Or(cfg.Parallel, defaultParallel), cmp.Or(cfg.Every, defaultEvery)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Team{cfg: cfg, wake: make(chan struct{}, 1)}, nil
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

// Open returns the work of a conversation whose end its lead hasn't been told of yet, the oldest
// first. A conversation without any has none.
func (t *Team) Open(ctx context.Context, session string) ([]Work, error) {
	if t == nil {
		return nil, errNoTeam
	}
	list, err := t.list(ctx, journal.Filter{Parent: session})
	return slices.DeleteFunc(list, func(w Work) bool { return w.head.Labels[labelWork] != untold }), err
}

var errNoTeam = &agent.ArgError{Field: "Team", Problem: "it is nil; make one with team.New"}

// Labels of the sessions of work, and values of the first.
const (
	labelWork    = "team"
	labelRun     = "team.run"     // the run that has asked for the work
	labelCharged = "team.charged" // the call that its cost is charged to

	untold = "untold"
	told   = "told"
)

// prefix begins the names of the sessions of work. A hash of the session of the lead follows, and
// the id, which is the name of the member and a hash of the key of the call. So a call starts one
// piece of work however often it runs, and no id leads to the work of another conversation.
const prefix = "team/"

func sessionOf(lead, id string) string { return prefix + hash(lead) + "/" + id }

func newID(member, key string) string { return member + "-" + hash(key)[:8] }

func memberOf(id string) string { return id[:max(strings.LastIndexByte(id, '-'), 0)] }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// workOf returns the work with that head, of a member.
func workOf(h journal.Head, m Member) Work {
	id := h.Session[strings.LastIndexByte(h.Session, '/')+1:]
	return Work{ID: id, Member: memberOf(id), Session: h.Session, Task: h.Title, Status: agent.Status(h.Status),
		Pending: len(h.Open), Cost: machine.InfoOf(&h).Cost, head: h, hub: m.Hub}
}

// list lists work, the oldest first. Sessions that can't be read are left out.
func (t *Team) list(ctx context.Context, f journal.Filter) (list []Work, err error) {
	f.NoKind = true
	for name, m := range t.cfg.Members {
		for h, err := range m.Hub.Agent().Journal().Heads(ctx, f) {
			if err != nil && h.Session == "" {
				return nil, fmt.Errorf("team: listing work: %w", err)
			}
			if w := workOf(h, m); err == nil && w.Member == name && h.Labels[labelWork] != "" {
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b Work) int {
		return cmp.Or(a.head.Created.Compare(b.head.Created), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// ended reports whether its run has ended.
func (w *Work) ended() bool {
	return w.Status != agent.Queued && w.Status != agent.Running && w.Status != agent.Paused
}

// asks reports whether it waits for a person, and nobody has decided since.
func (w *Work) asks() bool {
	return w.Status == agent.Paused && w.head.Inbox == 0 &&
		slices.ContainsFunc(w.head.Open, func(o journal.Open) bool { return o.For == "" })
}

func (w *Work) session() *agent.Session { return w.hub.Agent().Session(w.Session) }
