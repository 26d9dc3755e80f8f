package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A tree is what an input has started: see [machine.Ancestor]. Its limits of cost and tokens hold
// for all of it, so each run adds up before a model call what the tree has used. What this process
// drives is counted as it goes on; for what others drive, and what has ended, it reads the
// journals.
type tree struct {
	reading chan struct{} // has room for the one that reads the journals

	mu    sync.Mutex // guards what follows
	live  map[*sessionLog]*member
	known map[string]*member // by session: what the journals said
	wide  bool               // it may have more than one run and its subagents, whose usage is in that of the run
	look  bool               // the journals may say that it is wide
}

// A member is a session of a tree, with what its runs have used.
type member struct {
	seq      uint64 // of its newest fact
	earlier  []machine.TreeSpent
	newest   machine.TreeSpent
	spending *spending        // of the newest run, if this process drives it
	machine  *machine.Machine // if another process may drive it

	caller, call string          // of a subagent: the session and the call that it belongs to
	open         map[string]bool // calls that have no result, whose usage isn't in that of the run
}

// A place is that of a run in its tree. The lock of the log guards it.
type place struct {
	log      *sessionLog
	spending *spending          // of the run with its subagents; nil: nothing needs it so far
	levels   []machine.Ancestor // of what the run starts, once it has joined its tree
	tree     *tree              // nil: it has not joined one
	name     treeName
	left     bool
}

// trees are the trees that this process drives.
var trees struct {
	mu   sync.Mutex
	open map[treeName]*tree
}

// A treeName is the outermost run of a tree and the journal, because only agents that share one
// find each other's sessions.
type treeName struct {
	journal any
	run     string
}

// joinIfItStartsWork adds the run to its tree if it is resumed, if something has started it, or if
// its tools start work. Other runs join when they start something: see [place.Ancestors].
func (p *place) joinIfItStartsWork(resumed bool) {
	l := p.log
	wide := l.parent == nil && len(l.Run().Ancestors) > 0 || len(l.agent.owners) > len(l.agent.children)
	if resumed || wide || len(l.Run().Ancestors) > 0 {
		p.join(wide, resumed)
	}
}

// join adds the run to the runs that are counted for its tree. Later calls do nothing.
func (p *place) join(wide, look bool) {
	l := p.log
	l.Lock()
	if p.tree != nil || p.left {
		l.Unlock()
		return
	}
	if p.spending == nil && len(l.agent.openChildren(l.Run())) == 0 {
		p.spending = newSpending(nil)
		p.spending.update(l.Run())
	}
	p.levels = l.State().Tree()
	m, root, counted := memberOf(l.Machine()), p.levels[0].Run, p.spending != nil
	l.Unlock()
	if !counted {
		p.bill()
	}
	l.Lock()
	defer l.Unlock()
	m.spending, m.machine = p.spending, nil
	if m.spending == nil || p.tree != nil || p.left { // it can't be read; the next process counts it
		return
	}
	name := treeName{contain.Key(l.agent.sessions.Store), root}
	if name.journal == nil {
		name.journal = l.agent.sessions
	}
	trees.mu.Lock()
	defer trees.mu.Unlock()
	t := trees.open[name]
	if t == nil {
		t = &tree{reading: make(chan struct{}, 1), live: make(map[*sessionLog]*member)}
		if trees.open == nil {
			trees.open = make(map[treeName]*tree)
		}
		trees.open[name] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[l] = m
	t.wide, t.look = t.wide || wide, t.look || look
	p.tree, p.name = t, name
}

// leave ends the run's part in its tree: it joins none any more.
func (p *place) leave() {
	l := p.log
	l.Lock()
	t := p.tree
	p.left = true
	l.Unlock()
	if t == nil {
		return
	}
	trees.mu.Lock()
	defer trees.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.live, l); len(t.live) == 0 {
		delete(trees.open, p.name)
	}
}

// Ancestors returns those of what the run starts. Something is about to start, so the run joins its
// tree.
func (p *place) Ancestors() []machine.Ancestor {
	p.join(false, false)
	p.log.Lock()
	defer p.log.Unlock()
	return p.levels
}

// withOutermost returns a context that says to policies and their hooks which session the run works
// for.
func (l *sessionLog) withOutermost(ctx context.Context) context.Context {
	if len(l.agent.cfg.Policies) == 0 {
		return ctx
	}
	l.Lock()
	defer l.Unlock()
	return work.WithOutermost(ctx, l.State().Outermost())
}

// memberOf returns what a session says.
func memberOf(m *machine.Machine) *member {
	s := m.State()
	out := &member{seq: s.Seq, machine: m, earlier: s.Spendings()}
	if n := len(out.earlier); n > 0 {
		out.earlier, out.newest = out.earlier[:n-1], out.earlier[n-1]
	}
	r := s.Run
	if r == nil {
		return out
	}
	if r.Parent != "" {
		out.caller, out.call = s.Parent, r.Parent
	}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Status != machine.CallDone {
			if out.open == nil {
				out.open = make(map[string]bool)
			}
			out.open[c.Call.ID] = true
		}
	}
	if !r.IsOpen() {
		out.machine = nil
	}
	return out
}

// limit returns the limit of the run's input, or of one that has started it, that is reached by
// what all have used that the input has started; nil if there is none.
func (p *place) limit(ctx context.Context) error {
	l := p.log
	l.Lock()
	t, root := p.tree, machine.Ancestor{}
	if t != nil {
		root = p.levels[0]
	}
	l.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	counts := t.wide || t.look
	t.mu.Unlock()
	if !counts {
		return nil
	}
	all, err := t.members(ctx, l.agent, root)
	l.warn("agent: reading what an input has started, which may have used more", err)
	l.Lock()
	levels, own := l.State().Tree(), len(l.Run().Ancestors)
	l.Unlock()
	for i, a := range levels {
		note := "it is the limit of the input that has started this work, and counts all that it has started"
		if i == own {
			note = "it counts all that the input has started"
		}
		tokens, cost := used(all, a.Run)
		switch {
		case a.Cost >= 0 && cost >= a.Cost:
			return &LimitError{Limit: machine.LimitCost, Max: int64(a.Cost), Have: int64(cost), Note: note}
		case a.Tokens >= 0 && tokens >= a.Tokens:
			return &LimitError{Limit: machine.LimitTokens, Max: a.Tokens, Have: tokens, Note: note}
		}
	}
	return nil
}

// used returns what is used in the tree of a run.
func used(all map[string]*member, run string) (tokens int64, cost provider.Money) {
	for _, m := range all {
		for _, s := range m.earlier {
			if slices.Contains(s.Trees, run) {
				tokens, cost = tokens+s.Tokens, cost.Add(s.Cost)
			}
		}
		at := slices.Index(m.newest.Trees, run)
		if at < 0 || at < len(m.newest.Trees)-1 && m.counted(all[m.caller]) {
			continue
		}
		s := m.newest
		if m.spending != nil {
			now := m.spending.total()
			s.Tokens, s.Cost = now.Usage.Total(), now.Cost
		}
		tokens, cost = tokens+s.Tokens, cost.Add(s.Cost)
	}
	return tokens, cost
}

// counted reports whether what a subagent has used is in what its caller has used, which may be
// nil.
func (m *member) counted(caller *member) bool {
	return m.caller != "" && caller != nil && (caller.spending != nil || !caller.open[m.call])
}

// members returns what is known of all sessions of a tree. The error means that the journals don't
// say it all.
func (t *tree) members(ctx context.Context, a *Agent, root machine.Ancestor) (map[string]*member, error) {
	select {
	case t.reading <- struct{}{}:
		defer func() { <-t.reading }()
	case <-ctx.Done():
		return nil, causeOf(ctx)
	}
	all := make(map[string]*member)
	t.mu.Lock()
	for l, m := range t.live {
		all[l.Name] = m
	}
	if t.known == nil {
		t.known = make(map[string]*member)
	}
	known := t.known // changed by who is reading alone
	t.mu.Unlock()
	var failed error
	for i, store := range a.journals() {
		sessions := a.sessions
		if i > 0 {
			sessions = session.New(session.Config{Store: store})
		}
		failed = errors.Join(failed, read(ctx, sessions, root, all, known))
	}
	wide := false
	for name, m := range known {
		if all[name] == nil { // also if its session was deleted meanwhile
			all[name] = m
		}
		wide = wide || m.caller == "" && name != root.Session
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wide, t.look = t.wide || wide, t.look && failed != nil
	return all, failed
}

// read brings what is known of the sessions of a tree in a journal up to date, but for those that
// live has. The error is that of the sessions that can't be read; the others are counted.
func read(ctx context.Context, sessions *session.Sessions, root machine.Ancestor,
	live, known map[string]*member) (failed error) {
	var heads []journal.Head
	inTree := journal.Filter{Label: journal.Label{Key: machine.TreeLabel, Value: root.Run}}
	for h, err := range sessions.Store.Heads(ctx, inTree) {
		switch {
		case err == nil:
			heads = append(heads, h)
		default: // one that is damaged harms itself alone
			failed = errors.Join(failed, fmt.Errorf("agent: listing what an input has started: %w", err))
		}
	}
	h, err := sessions.Store.Head(ctx, root.Session)
	switch {
	case err == nil:
		heads = append(heads, h)
	case !errors.Is(err, journal.ErrNoSession):
		failed = errors.Join(failed, err)
	}
	for _, h := range heads {
		m := known[h.Session]
		if live[h.Session] != nil || m != nil && m.seq == h.Seq {
			continue
		}
		now, err := m.upTo(ctx, sessions, h.Session)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		known[h.Session] = now
	}
	return failed
}

// upTo returns what the journal says of a session now. m is what it said before, or nil.
func (m *member) upTo(ctx context.Context, sessions *session.Sessions, name string) (*member, error) {
	if m != nil && m.machine != nil {
		facts, err := sessions.Facts(ctx, name, m.seq, 0)
		for i := 0; i < len(facts) && err == nil; i++ {
			err = m.machine.Apply(facts[i])
		}
		if err == nil && len(facts) > 0 {
			return memberOf(m.machine), nil
		}
	} // else it was deleted or pruned meanwhile
	own, err := sessions.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	return memberOf(own), nil
}
