package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

var _ Queue = (*MapStore)(nil)

// A standing is the place of a session of a [MapStore] in the queue.
type standing struct {
	Place
	at      time.Time // when it is due
	n       uint64    // of the session, in the order in which they began
	from    time.Time // it isn't claimed before that
	claimed bool      // until then
	fence   uint64    // of the claim
	tries   int       // how often it couldn't be started
}

// waits reports whether a claim may take it.
func (s *standing) waits(now time.Time) bool { return !s.Started && !now.Before(s.from) }

// busy reports whether it counts for its group's limit. held says that the session is leased: who
// has claimed it may be about to start it.
func (s *standing) busy(now time.Time, held bool) bool {
	return s.Started || s.claimed && (held || now.Before(s.from))
}

// compare compares two standings of a group: the one that comes first is less.
func (s *standing) compare(o *standing) int {
	return cmp.Or(cmp.Compare(o.Precedence, s.Precedence), s.at.Compare(o.at), cmp.Compare(s.n, o.n))
}

// stand gives a session the place that the newest head says.
func (m *MapStore) stand(s *session, p *Place) {
	name := s.head.Session
	if p == nil {
		delete(m.queue, name)
		return
	}
	if m.queue == nil {
		m.queue = make(map[string]*standing)
	}
	m.queue[name] = &standing{Place: *p, at: s.head.Due, n: s.n, from: s.head.Due}
}

// Due implements [Queue].
func (m *MapStore) Due(ctx context.Context, c Claim, take func(Head) bool) (Queued, error) {
	if err := ready(ctx, "look for what is due in", "", c.Validate()); err != nil {
		return Queued{}, err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if s.head.hasWork(now) && !take(s.head.clone()) {
			break
		}
	}
	return m.first(c, now), nil
}

// hasWork reports whether a head is for take of [Queue].Due.
func (h *Head) hasWork(now time.Time) bool {
	if h.Kind != "" || h.Parent != "" || h.Status == "queued" || h.Owner != "" && now.Before(h.Until) {
		return false
	}
	return h.Status == "running" || h.Status == "paused" && h.Inbox > 0 || !h.Due.IsZero() && !now.Before(h.Due)
}

// first returns what a claim takes now; without a session if there is nothing.
func (m *MapStore) first(c Claim, now time.Time) (first Queued) {
	busy, best := make(map[string]int), make(map[string]string) // by group
	for name, s := range m.queue {
		h := &m.sessions[name].head
		held := h.Owner != "" && now.Before(h.Until)
		if s.busy(now, held) {
			busy[s.Group]++
		}
		if held || !s.waits(now) || !slices.Contains(c.Agents, s.Agent) ||
			slices.ContainsFunc(c.Full, func(l Label) bool { return h.Labels[l.Key] == l.Value }) {
			continue
		}
		if other, ok := best[s.Group]; !ok || s.compare(m.queue[other]) < 0 {
			best[s.Group] = name
		}
	}
	for group, name := range best {
		if c.PerGroup > 0 && group != "" && busy[group] >= c.PerGroup {
			continue
		}
		if first.Session == "" || c.compare(group, first.Group) < 0 {
			first = Queued{Session: name, Place: m.queue[name].Place, Due: m.queue[name].at}
		}
	}
	return first
}

// compare compares two groups: the one whose turn comes first is less.
func (c Claim) compare(x, y string) int {
	if later := x > c.After; later != (y > c.After) {
		if later {
			return -1
		}
		return 1
	}
	return cmp.Compare(x, y)
}

// Claim implements [Queue].
func (m *MapStore) Claim(ctx context.Context, c Claim, owner string, ttl time.Duration) (Queued, Lease, error) {
	if err := ready(ctx, "claim from", "the queue", cmp.Or(c.Validate(), ValidateLease("a", owner, ttl))); err != nil {
		return Queued{}, Lease{}, err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.first(c, now)
	if q.Session == "" {
		return Queued{}, Lease{}, nil
	}
	s := m.sessions[q.Session]
	m.fence++
	s.head.Owner, s.head.Fence = owner, m.fence
	l := s.extend(now.Add(ttl))
	at := m.queue[q.Session]
	at.claimed, at.from, at.fence = true, s.head.Until, m.fence
	return q, l, nil
}

// Delay implements [Queue].
func (m *MapStore) Delay(ctx context.Context, l Lease, until time.Time) error {
	if err := ready(ctx, "delay", l.Session, ValidateClaimed(l)); err != nil {
		return err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s, at := m.sessions[l.Session], m.queue[l.Session]
	if s == nil {
		return nil
	}
	if s.leased(l) {
		s.head.Owner, s.head.Until = "", time.Time{}
	}
	if at == nil || at.Started || at.fence != l.Fence {
		return nil
	}
	if until.IsZero() {
		until = now.Add(QueueDelay(at.tries))
		at.tries++
	}
	at.claimed, at.from = false, until
	return nil
}

// Depths implements [Queue].
func (m *MapStore) Depths(ctx context.Context) ([]Depth, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("journal: depths of the queue: %w", err)
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	by := make(map[[2]string]*Depth)
	for _, s := range m.queue {
		key := [2]string{s.Agent, s.Group}
		d := by[key]
		if d == nil {
			d = &Depth{Agent: s.Agent, Group: s.Group}
			by[key] = d
		}
		if s.Started {
			d.Started++
			continue
		}
		if d.Waiting++; s.at.After(now) {
			d.Later++
		} else if d.Oldest.IsZero() || s.at.Before(d.Oldest) {
			d.Oldest = s.at
		}
	}
	var all []Depth
	for _, d := range by {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(x, y Depth) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Group, y.Group))
	})
	return all, nil
}
