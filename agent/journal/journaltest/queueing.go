package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// queueChecks are those of a [journal.Queue].
var queueChecks = []check{
	{"the most urgent is claimed first, then what was due first", claimsInOrder},
	{"what isn't due, has started or has gone isn't claimed", claimsOnlyWaiting},
	{"groups take turns, and each gives its first", claimsInTurn},
	{"a group that has its number gives no more", claimsPerGroup},
	{"only the agents that are named are claimed for", claimsForAgents},
	{"sessions with a label that is full are left out", claimsWithoutLabels},
	{"a claim is a lease, and leaves out what is leased", claimsLease},
	{"a claim that led to no start is free when its lease ends", claimsEnd},
	{"what can't be started is delayed more and more", claimsDelayed},
	{"a claim that has gone on isn't put back", claimsGoneOn},
	{"what is due for a worker is told, and nothing else", dueForWorkers},
	{"a queue of two thousand that are due at once has its order", claimsBehindDelayed},
	{"depths count all that wait and have started", depths},
	{"claims at the same moment take each session once, and never too many of a group", claimsAtOnce},
	{"an invalid claim is refused", claimsInvalid},
	{"a context that has ended claims nothing", claimsEnded},
}

func (f *fixture) queue() journal.Queue { return f.store.(journal.Queue) }

// longAgo is when the sessions of the checks are due, if nothing else is said.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// enqueue queues a session of the agent a, if p says no other.
func (f *fixture) enqueue(session string, p journal.Place, due time.Time) {
	f.t.Helper()
	if p.Agent == "" {
		p.Agent = "a"
	}
	a := journal.Append{Session: session, Head: &journal.HeadUpdate{Status: "queued", Due: due, Queue: &p}}
	if h, err := f.store.Head(f.ctx, session); err == nil && h.Fence > 0 {
		l, err := f.store.Lease(f.ctx, session, "enqueue", time.Hour)
		if err != nil {
			f.t.Fatalf("lease: %v", err)
		}
		defer func() { _ = f.store.Release(f.ctx, l) }()
		a.After, a.Fence = h.Seq, l.Fence
	} else if err == nil {
		a.After = h.Seq
	}
	a.Records = []journal.Record{rec(int(a.After) + 1)}
	f.append(a)
}

var claimOfA = journal.Claim{Agents: []string{"a"}}

// claim claims once; without a session there was none.
func (f *fixture) claim(c journal.Claim, owner string) (journal.Queued, journal.Lease) {
	f.t.Helper()
	q, l, err := f.queue().Claim(f.ctx, c, owner, time.Hour)
	if err != nil {
		f.t.Fatalf("claim %+v: %v", c, err)
	}
	if (q.Session == "") != (l.Fence == 0) || q.Session != l.Session {
		f.t.Fatalf("claim %+v: got %+v with the lease %+v", c, q, l)
	}
	return q, l
}

// claims claims until there is nothing, each time after the group before, and returns the sessions.
func (f *fixture) claims(c journal.Claim) string {
	f.t.Helper()
	var names []string
	for {
		first, err := f.queue().Due(f.ctx, c, func(journal.Head) bool { return true })
		if err != nil {
			f.t.Fatalf("due %+v: %v", c, err)
		}
		q, _ := f.claim(c, "w")
		if first.Session != q.Session {
			f.t.Fatalf("due %+v: said that %q comes, and %q came", c, first.Session, q.Session)
		}
		if q.Session == "" {
			return strings.Join(names, " ")
		}
		names = append(names, q.Session)
		c.After = q.Group
	}
}

// starts appends as who has claimed a session does.
func (f *fixture) starts(q journal.Queued, l journal.Lease, head journal.HeadUpdate) {
	f.t.Helper()
	after := f.head(q.Session).Seq
	f.append(journal.Append{Session: q.Session, After: after, Fence: l.Fence,
		Records: []journal.Record{rec(int(after) + 1)}, Head: &head})
}

func started(p journal.Place) journal.HeadUpdate {
	p.Started = true
	return journal.HeadUpdate{Status: "running", Queue: &p}
}

func claimsInOrder(f *fixture) {
	for i, precedence := range []int{60, 20, 80, 60, -5, 60, 0} {
		f.enqueue(fmt.Sprint("s", i), journal.Place{Precedence: precedence}, longAgo.Add(-time.Duration(i)*time.Second))
	}
	f.enqueue("tie1", journal.Place{Precedence: 60}, longAgo)
	f.enqueue("tie0", journal.Place{Precedence: 60}, longAgo)
	f.enqueue("at once", journal.Place{Precedence: 60}, time.Time{})
	f.equal("order", f.claims(claimOfA), "s2 at once s5 s3 s0 tie1 tie0 s1 s6 s4")
	f.enqueue("last", journal.Place{Group: "g", Precedence: 7}, longAgo)
	q, _ := f.claim(claimOfA, "w")
	f.equal("what was claimed", q, journal.Queued{Session: "last", Due: longAgo,
		Place: journal.Place{Agent: "a", Group: "g", Precedence: 7}})
}

func claimsOnlyWaiting(f *fixture) {
	place := journal.Place{Agent: "a", Precedence: 60}
	f.enqueue("later", place, time.Now().Add(time.Hour))
	f.enqueue("started", journal.Place{Agent: "a", Started: true}, longAgo)
	f.enqueue("gone", place, longAgo)
	f.enqueue("deleted", place, longAgo)
	f.enqueue("moved", place, longAgo)
	f.enqueue("as it is", place, longAgo)
	f.append(journal.Append{Session: "gone", After: 1, Records: recs(2, 2),
		Head: &journal.HeadUpdate{Status: "queued"}})
	f.append(journal.Append{Session: "as it is", After: 1, Records: recs(2, 2)})
	if err := f.store.Delete(f.ctx, "deleted", journal.All); err != nil {
		f.t.Fatalf("delete: %v", err)
	}
	f.append(journal.Append{Session: "deleted", Records: recs(1, 1), Head: &journal.HeadUpdate{Status: "queued"}})
	f.enqueue("moved", place, time.Now().Add(time.Hour))
	f.enqueue("back", place, time.Now().Add(time.Hour))
	f.enqueue("back", place, longAgo)
	f.equal("order", f.claims(claimOfA), "as it is back")
}

func claimsInTurn(f *fixture) {
	for i, at := range []struct {
		group      string
		precedence int
	}{{"b", 1}, {"a", 1}, {"a", 9}, {"", 1}, {"b", 5}, {"c", 3}, {"a", 4}, {"", 9}} {
		f.enqueue(fmt.Sprint(at.group, at.precedence), journal.Place{Group: at.group, Precedence: at.precedence},
			longAgo.Add(time.Duration(i)))
	}
	f.equal("order", f.claims(journal.Claim{Agents: []string{"a"}, After: "a"}), "b5 c3 9 a9 b1 1 a4 a1")
}

func claimsPerGroup(f *fixture) {
	for i := range 3 {
		f.enqueue(fmt.Sprint("a", i), journal.Place{Group: "a", Precedence: 90}, longAgo.Add(time.Duration(i)))
		f.enqueue(fmt.Sprint("b", i), journal.Place{Group: "b"}, longAgo.Add(time.Duration(i)))
		f.enqueue(fmt.Sprint("n", i), journal.Place{}, longAgo.Add(time.Duration(i)))
	}
	f.enqueue("other's", journal.Place{Agent: "b", Group: "b", Started: true}, longAgo)
	c := journal.Claim{Agents: []string{"a"}, PerGroup: 2}
	q, l := f.claim(c, "w")
	f.equal("first", q.Session, "a0")
	f.equal("order", f.claims(c), "a1 b0 n0 n1 n2")
	f.starts(q, l, started(q.Place))
	f.equal("a started one counts", f.claims(c), "")
	f.starts(q, l, journal.HeadUpdate{Status: "paused"})
	f.equal("one that has left makes room", f.claims(c), "a2")
	f.append(journal.Append{Session: "other's", After: 1, Records: recs(2, 2),
		Head: &journal.HeadUpdate{Status: "completed"}})
	f.equal("one of another agent, too", f.claims(c), "b1")
	c.PerGroup = 3
	f.equal("with a higher limit", f.claims(c), "b2")
}

func claimsForAgents(f *fixture) {
	for i, agent := range []string{"a", "b", "c", "a", "b", "c"} {
		f.enqueue(fmt.Sprint(agent, i), journal.Place{Agent: agent, Precedence: i}, longAgo)
	}
	f.append(journal.Append{Session: "nameless", Records: recs(1, 1),
		Head: &journal.HeadUpdate{Status: "queued", Queue: &journal.Place{}}})
	f.equal("of one", f.claims(journal.Claim{Agents: []string{"b"}}), "b4 b1")
	f.equal("of two", f.claims(journal.Claim{Agents: []string{"c", "a"}}), "c5 a3 c2 a0")
	f.equal("without a name", f.claims(journal.Claim{Agents: []string{""}}), "nameless")
}

func claimsWithoutLabels(f *fixture) {
	for i, labels := range []map[string]string{{"tenant": "acme"}, nil, {"tenant": "zoo"}, {"tenant": "acme", "x": "y"},
		{"other": "acme"}, {"tenant": "1999's \"{,}\""}} {
		f.append(journal.Append{Session: fmt.Sprint("s", i), Records: recs(1, 1), Head: &journal.HeadUpdate{
			Status: "queued", Labels: labels, Due: longAgo.Add(time.Duration(i)), Queue: &journal.Place{Agent: "a"}}})
	}
	c := claimOfA
	c.Full = []journal.Label{{Key: "tenant", Value: "acme"}, {Key: "x", Value: "z"}}
	for i := range 2000 {
		c.Full = append(c.Full, journal.Label{Key: "tenant", Value: fmt.Sprintf("%d's \"{,}\"", i)})
	}
	f.equal("without a label", f.claims(c), "s1 s2 s4")
	c.Full = append(c.Full[len(c.Full)-1:], journal.Label{Key: "x", Value: "y"}) // of s3
	f.equal("without another", f.claims(c), "s0")
	f.equal("all", f.claims(claimOfA), "s3 s5")
}

func claimsLease(f *fixture) {
	f.enqueue("s", journal.Place{}, longAgo)
	f.enqueue("t", journal.Place{}, longAgo.Add(1))
	other, err := f.store.Lease(f.ctx, "s", "other", 300*time.Millisecond)
	if err != nil {
		f.t.Fatalf("lease: %v", err)
	}
	q, l := f.claim(claimOfA, "w")
	f.equal("session", q.Session, "t")
	h := f.head("t")
	f.equal("owner", h.Owner, "w")
	f.equal("fence", h.Fence, l.Fence)
	f.equal("end", h.Until, l.Until)
	f.equal("last record", h.Seq, uint64(1))
	_, err = f.store.Lease(f.ctx, "t", "other", time.Hour)
	refused[*journal.HeldError](f, "lease of what is claimed", err)
	if again, err := f.store.Lease(f.ctx, "t", "w", time.Hour); err != nil || again.Fence <= l.Fence {
		f.t.Fatalf("lease of what its owner has claimed: %+v, %v", again, err)
	}
	f.equal("what is leased", f.claims(claimOfA), "")
	f.wait(other.Until)
	f.equal("when the lease has ended", f.claims(claimOfA), "s")
}

func claimsEnd(f *fixture) {
	f.enqueue("s", journal.Place{Group: "g"}, longAgo)
	f.enqueue("t", journal.Place{Group: "g"}, longAgo.Add(1))
	c := journal.Claim{Agents: []string{"a"}, PerGroup: 1}
	const lasts = 300 * time.Millisecond
	q, l, err := f.queue().Claim(f.ctx, c, "gone", lasts)
	if err != nil || q.Session != "s" {
		f.t.Fatalf("claim: %+v, %v", q, err)
	}
	f.equal("while the claim lasts", f.claims(c), "")
	if left := time.Until(l.Until); left > 2*lasts { // clocks may differ a little
		f.t.Fatalf("the claim lasts %v longer", left)
	}
	f.wait(l.Until)
	q, l = f.claim(c, "w")
	f.equal("when it has ended", q.Session, "s")
	f.equal("and it counts again", f.claims(c), "")
	f.starts(q, l, started(q.Place))
	f.equal("and when it has started", f.claims(c), "")
}

func claimsDelayed(f *fixture) {
	for tries, want := range []int{10, 20, 40, 80, 160, 320, 450, 450} {
		f.equal("delay", journal.QueueDelay(tries), time.Duration(want)*time.Second)
	}
	f.enqueue("s", journal.Place{}, longAgo)
	_, l := f.claim(claimOfA, "w")
	until := time.Now().Add(300 * time.Millisecond)
	f.delay(l, until)
	f.equal("owner", f.head("s").Owner, "")
	f.equal("before that", f.claims(claimOfA), "")
	f.wait(until.Add(20 * time.Millisecond)) // the store's clock may be another
	_, l = f.claim(claimOfA, "w")
	f.equal("after that", l.Session, "s")
	f.delay(l, time.Time{})
	f.equal("for some time", f.claims(claimOfA), "")
	f.enqueue("s", journal.Place{}, longAgo)
	f.equal("with a new head", f.claims(claimOfA), "s")
}

func (f *fixture) delay(l journal.Lease, until time.Time) {
	f.t.Helper()
	if err := f.queue().Delay(f.ctx, l, until); err != nil {
		f.t.Fatalf("delay %+v: %v", l, err)
	}
}

func claimsGoneOn(f *fixture) {
	f.enqueue("s", journal.Place{Group: "g"}, longAgo)
	q, l := f.claim(claimOfA, "w")
	f.starts(q, l, started(q.Place))
	f.delay(l, longAgo)
	f.equal("one that has started", f.claims(claimOfA), "")
	f.delay(journal.Lease{Session: "unknown", Owner: "w", Fence: 1}, longAgo)

	f.enqueue("t", journal.Place{}, longAgo)
	_, old := f.claim(claimOfA, "w")
	f.delay(old, longAgo)
	_, l = f.claim(claimOfA, "w")
	f.equal("session", l.Session, "t")
	f.delay(old, longAgo)
	f.equal("one that was claimed again", f.claims(claimOfA), "")
	f.equal("owner", f.head("t").Owner, "w")
	if err := f.store.Release(f.ctx, l); err != nil {
		f.t.Fatalf("release: %v", err)
	}
	f.delay(l, longAgo)
	f.equal("one that was released", f.claims(claimOfA), "t")
}

func dueForWorkers(f *fixture) {
	now := time.Now()
	for name, h := range map[string]journal.HeadUpdate{
		"1 running":     {Status: "running"},
		"2 answered":    {Status: "paused", Open: []journal.Open{{ID: "o"}}},
		"3 expired":     {Status: "paused", Due: now.Add(-2 * time.Hour), Open: []journal.Open{{ID: "o"}}},
		"4 ended":       {Status: "completed", Due: now.Add(-time.Hour)},
		"5 leased":      {Status: "running"},
		"6 waits":       {Status: "paused", Open: []journal.Open{{ID: "o", Expires: now.Add(time.Hour)}}},
		"7 over":        {Status: "completed"},
		"8 child":       {Status: "running", Parent: "1 running"},
		"9 plan":        {Status: "running", Kind: "plan"},
		"10 queued":     {Status: "queued", Due: longAgo, Queue: &journal.Place{Agent: "b"}},
		"11 has a text": {Status: "completed"},
	} {
		f.append(journal.Append{Session: name, Records: recs(1, 1), Head: &h})
	}
	for _, name := range []string{"2 answered", "11 has a text", "9 plan"} {
		f.post(name, item("i"))
	}
	if _, err := f.store.Lease(f.ctx, "5 leased", "w", time.Hour); err != nil {
		f.t.Fatalf("lease: %v", err)
	}
	told := func(most int) (names []string) {
		first, err := f.queue().Due(f.ctx, claimOfA, func(h journal.Head) bool {
			names = append(names, h.Session)
			return len(names) < most
		})
		if err != nil || first.Session != "" {
			f.t.Fatalf("due: %+v, %v", first, err)
		}
		return names
	}
	all := told(100)
	slices.Sort(all)
	f.equal("what is due", all, []string{"1 running", "2 answered", "3 expired", "4 ended"})
	f.equal("number of those taken", len(told(2)), 2)
}

// claimsBehindDelayed has more become due at once than a store makes ready at a time.
func claimsBehindDelayed(f *fixture) {
	const n = 2000
	var group sync.WaitGroup
	due := time.Now().Add(time.Second)
	for part := range 4 {
		group.Go(func() {
			for i := part; i < n; i += 4 {
				_ = f.store.Append(f.ctx, journal.Append{Session: fmt.Sprint("s", i), Records: recs(1, 1),
					Head: &journal.HeadUpdate{Status: "queued", Due: due.Add(time.Duration(i)),
						Queue: &journal.Place{Agent: "a", Precedence: i}}})
			}
		})
	}
	group.Wait()
	f.wait(due.Add(20 * time.Millisecond))
	for i := n - 1; i > n-4; i-- {
		q, _ := f.claim(claimOfA, "w")
		f.equal("next", q.Session, fmt.Sprint("s", i))
	}
}

func depths(f *fixture) {
	now := time.Now()
	f.equal("of nothing", f.depths(), []journal.Depth(nil))
	f.enqueue("1", journal.Place{Group: "g"}, longAgo.Add(time.Hour))
	f.enqueue("2", journal.Place{Group: "g"}, longAgo)
	f.enqueue("3", journal.Place{Group: "g"}, now.Add(time.Hour))
	f.enqueue("4", journal.Place{Group: "g", Started: true}, longAgo)
	f.enqueue("5", journal.Place{Agent: "b", Group: "g"}, now.Add(time.Hour))
	f.enqueue("6", journal.Place{}, longAgo)
	want := []journal.Depth{{Agent: "a", Waiting: 1, Oldest: longAgo},
		{Agent: "a", Group: "g", Waiting: 3, Later: 1, Started: 1, Oldest: longAgo},
		{Agent: "b", Group: "g", Waiting: 1, Later: 1}}
	f.equal("depths", f.depths(), want)
	f.claim(claimOfA, "w")
	f.equal("what is claimed waits", f.depths(), want)
}

func (f *fixture) depths() []journal.Depth {
	f.t.Helper()
	all, err := f.queue().Depths(f.ctx)
	if err != nil {
		f.t.Fatalf("depths: %v", err)
	}
	return all
}

func claimsAtOnce(f *fixture) { f.claimAll([]journal.Queue{f.queue(), f.queue()}, 60) }

func claimsInvalid(f *fixture) {
	for what, c := range map[string]journal.Claim{
		"no agent":         {},
		"a bad agent":      {Agents: []string{"a", "b\x00"}},
		"a bad group":      {Agents: []string{"a"}, After: "\xff"},
		"a negative limit": {Agents: []string{"a"}, PerGroup: -1},
		"an empty label":   {Agents: []string{"a"}, Full: []journal.Label{{Key: "k"}}},
	} {
		_, _, err := f.queue().Claim(f.ctx, c, "w", time.Hour)
		refused[*journal.InvalidError](f, what, err)
		_, err = f.queue().Due(f.ctx, c, func(journal.Head) bool { return true })
		refused[*journal.InvalidError](f, what, err)
	}
	_, _, err := f.queue().Claim(f.ctx, claimOfA, "", time.Hour)
	refused[*journal.InvalidError](f, "no owner", err)
	_, _, err = f.queue().Claim(f.ctx, claimOfA, "w", 0)
	refused[*journal.InvalidError](f, "no ttl", err)
	refused[*journal.InvalidError](f, "no session", f.queue().Delay(f.ctx, journal.Lease{Fence: 1}, longAgo))
	f.enqueue("waits", journal.Place{}, longAgo)
	refused[*journal.InvalidError](f, "no fence", f.queue().Delay(f.ctx, journal.Lease{Session: "waits", Owner: "w"},
		time.Now().Add(time.Hour)))
	f.equal("one that nobody had claimed", f.claims(claimOfA), "waits")
	for what, p := range map[string]journal.Place{"agent": {Agent: "\x00"},
		"group": {Group: strings.Repeat("g", 513)}} {
		refused[*journal.InvalidError](f, "a place with a bad "+what, f.store.Append(f.ctx,
			journal.Append{Session: "s", Head: &journal.HeadUpdate{Queue: &p}}))
	}
}

func claimsEnded(f *fixture) {
	f.enqueue("s", journal.Place{}, longAgo)
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, _, claim := f.queue().Claim(ctx, claimOfA, "w", time.Hour)
	_, due := f.queue().Due(ctx, claimOfA, func(journal.Head) bool { return true })
	_, depths := f.queue().Depths(ctx)
	delay := f.queue().Delay(ctx, journal.Lease{Session: "s", Fence: 1}, longAgo)
	for what, err := range map[string]error{"claim": claim, "due": due, "depths": depths, "delay": delay} {
		if !errors.Is(err, context.Canceled) {
			f.t.Fatalf("%s: got error %v, want context.Canceled", what, err)
		}
	}
	f.equal("order", f.claims(claimOfA), "s")
}
