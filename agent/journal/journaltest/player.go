package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// play makes a command of a script, and returns what it shows. Fences have names, in the order of
// their leases: f1, f2, f1+1. Records are the numbers of [rec]. @n is a time n nanoseconds after
// [recordTime].
//
//	append SESSION AFTER [RECORDS] [fence=] [taken=,] [HEAD]
//	                                   kind=, v=, time=, data=: of the last record. Last word: quiet, or numbered,
//	                                   zoned, swapped: the records have numbers, another zone, another order
//	fill SESSION N                     appends the first N records one by one
//	log SESSION [AFTER]                shows the records after a number; 1:7 is rec(7) at number 1
//	head SESSION                       shows the head, without its times
//	heads [FILTER]                     shows names; "pages" does so in pages of any size
//	lease SESSION OWNER [TTL] [free]   shows the fence; free: waits until the lease of another has ended
//	renew FENCE TTL, release FENCE     with the lease as it was given
//	post SESSION ID… [closes=,]        kind=, data=: of the items
//	take SESSION [fence=]              shows ids
//	delete SESSION UPTO                or all
//	updated SESSION, created SESSION   compare that time of the head with the one before
//	wait FENCE, pass                   until that lease has ended; until appends get another time
//
// It checks besides that the store neither changes nor keeps what it is passed, that what it
// returns belongs to the caller, that fences rise, that time doesn't go back in heads, that a list
// shows the same heads as Head, and that items come back as they were posted.
func (f *fixture) play(c *command) string {
	switch c.name {
	case "append":
		return f.appends(c)
	case "fill":
		for n := range number(c.arg(1)) {
			f.append(journal.Append{Session: c.arg(0), After: uint64(n), Records: recs(n+1, n+1)})
		}
	case "log":
		return f.log(c)
	case "head":
		return f.shownHead(c)
	case "heads":
		return strings.Join(f.heads(c.object), " ")
	case "pages":
		return strings.Join(f.pages(c), " ")
	case "lease":
		return f.leased(c)
	case "renew":
		return f.renewed(f.byName(c.arg(0)), duration(c.arg(1)))
	case "release":
		l := f.byName(c.arg(0))
		return f.says(l.Session, l.Fence, f.store.Release(f.ctx, l))
	case "post":
		return f.posts(c)
	case "take":
		return f.taken(c)
	case "delete":
		upTo := uint64(number(c.arg(1)))
		if c.arg(1) == "all" {
			upTo = journal.All
			delete(f.times, c.arg(0))
		}
		return f.says(c.arg(0), 0, f.store.Delete(f.ctx, c.arg(0), upTo))
	case "updated", "created":
		return f.compared(c.name, f.head(c.arg(0)))
	case "wait":
		f.wait(f.byName(c.arg(0)).Until)
	case "pass":
		f.wait(time.Now())
	default:
		f.t.Fatalf("%q is no command", c.line)
	}
	return ""
}

func (f *fixture) appends(c *command) string {
	a := journal.Append{Session: c.arg(0), After: uint64(number(c.arg(1))), Fence: f.fence(c), Taken: c.list("taken"),
		Quiet: c.has("quiet")}
	if from, to, ok := span(c.arg(2)); ok {
		a.Records = recs(from, to)
	}
	for i := range a.Records {
		r := &a.Records[i]
		switch {
		case c.has("numbered"):
			r.Seq = a.After + 1 + uint64(i)
		case c.has("zoned"):
			r.Time = r.Time.In(zone)
		case i == len(a.Records)-1:
			c.change(r)
		}
	}
	if c.has("swapped") {
		slices.Reverse(a.Records)
	}
	if c.object != "" {
		a.Head = new(journal.HeadUpdate)
		f.decode(c.object, a.Head)
	}
	before := fmt.Sprintf("%+v", a.Records)
	err := f.store.Append(f.ctx, a)
	f.equal("records of the caller", fmt.Sprintf("%+v", a.Records), before)
	for i := range a.Records {
		overwrite(a.Records[i].Data)
		a.Records[i] = rec(-1)
	}
	for i := range a.Taken {
		a.Taken[i] = "overwritten"
	}
	if a.Head != nil {
		overwriteHead(a.Head.Open, a.Head.Labels, a.Head.Info)
	}
	return f.says(a.Session, a.Fence, err, a.After)
}

// change sets what the options say of the last record.
func (c *command) change(r *journal.Record) {
	for option, value := range c.options {
		switch option {
		case "kind":
			r.Kind = value
		case "v":
			r.V = number(value)
		case "data":
			r.Data = []byte(value)
		case "time":
			r.Time = r.Time.Add(duration(value))
		}
	}
}

// overwriteHead and overwrite change what belongs to the caller.
func overwriteHead(open []journal.Open, labels map[string]string, info []byte) {
	for i := range open {
		open[i].ID = "overwritten"
	}
	for key := range labels {
		labels[key] = "overwritten"
	}
	overwrite(info)
}

func overwrite(data []byte) {
	for i := range data {
		data[i] = 'X'
	}
	_ = append(data, "overwritten"...)
}

func (f *fixture) log(c *command) string {
	var shown []string
	first, last, after := 0, 0, number(c.arg(1))
	seq := uint64(after)
	for r, err := range f.store.Read(f.ctx, c.arg(0), uint64(after)) {
		if err != nil {
			shown = append(shown, f.says(c.arg(0), 0, err, uint64(after)))
			continue
		}
		seq++
		n, _ := strconv.Atoi(strings.TrimPrefix(string(r.Data), "data "))
		same := r.Equal(rec(n)) && r.Time.Location() == time.UTC
		overwrite(r.Data)
		switch {
		case !same || r.Seq != seq:
			shown = append(shown, fmt.Sprintf("%d:%+v", seq, r))
		case uint64(n) != seq:
			shown = append(shown, fmt.Sprintf("%d:%d", seq, n))
		case n == last+1 && first > 0:
			shown[len(shown)-1] = fmt.Sprintf("%d-%d", first, n)
			last = n
		default:
			shown = append(shown, strconv.Itoa(n))
			first, last = n, n
		}
	}
	return strings.Join(shown, " ")
}

// zeroField is a field of a head that isn't set.
var zeroField = regexp.MustCompile(`[{,]"\w+":(0|""|"0001-[^"]*")`)

func (f *fixture) shownHead(c *command) string {
	h, err := f.store.Head(f.ctx, c.arg(0))
	if err != nil {
		return f.says(c.arg(0), 0, err)
	}
	if h.Session != c.arg(0) || h.Created.IsZero() || h.Updated.Before(h.Created) ||
		h.Updated.Before(f.times[h.Session]) {
		f.t.Fatalf("head of %q, after one of %v: %+v", c.arg(0), f.times[h.Session], h)
	}
	f.times[h.Session] = h.Updated
	shown := h
	shown.Session, shown.Fence, shown.Until, shown.Created, shown.Updated = "", 0, time.Time{}, time.Time{}, time.Time{}
	if !h.Until.IsZero() {
		shown.Owner += f.until(h.Session, h.Until)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		f.t.Fatalf("head of %q: %v", c.arg(0), err)
	}
	out := strings.TrimRight(strings.TrimLeft(zeroField.ReplaceAllString(string(text), ""), "{,"), "}")
	if h.Fence > 0 {
		out += ", " + f.nameOf(h.Session, h.Fence)
	}
	overwriteHead(h.Open, h.Labels, h.Info)
	return out
}

// heads returns the names of the sessions that a filter lists.
func (f *fixture) heads(filter string) []string {
	var flt journal.Filter
	f.decode(filter, &flt)
	var names []string
	for h, err := range f.store.Heads(f.ctx, flt) {
		if err != nil {
			f.t.Fatalf("heads %s: %v", filter, err)
		}
		f.equal("listed head", h, f.head(h.Session))
		overwriteHead(h.Open, h.Labels, h.Info)
		names = append(names, h.Session)
	}
	return names
}

// pages lists by pages of each size up to one more than there are, which must be the same.
func (f *fixture) pages(c *command) []string {
	want := f.heads(c.object)
	for limit := 1; limit <= len(want)+1; limit++ {
		var flt journal.Filter
		f.decode(c.object, &flt)
		flt.Limit = limit
		var got []string
		for more := true; more; {
			more = false
			for h, err := range f.store.Heads(f.ctx, flt) {
				if err != nil {
					f.t.Fatalf("heads %+v: %v", flt, err)
				}
				got, flt.After, flt.Before, more = append(got, h.Session), h.Session, h.Updated, true
			}
		}
		f.equal(fmt.Sprintf("pages of %d", limit), got, want)
	}
	return want
}

func (f *fixture) leased(c *command) string {
	session, owner, ttl := c.arg(0), c.arg(1), hour
	if d := c.arg(2); d != "" {
		ttl = duration(d)
	}
	l, err := f.store.Lease(f.ctx, session, owner, ttl)
	for held := (*journal.HeldError)(nil); c.has("free") && errors.As(err, &held); {
		f.wait(held.Until)
		l, err = f.store.Lease(f.ctx, session, owner, ttl)
	}
	if err != nil {
		return f.says(session, 0, err)
	}
	f.equal("lease", l, journal.Lease{Session: session, Owner: owner, Fence: l.Fence, Until: l.Until})
	for _, before := range f.leases {
		if before.Session == session && before.Fence >= l.Fence {
			f.t.Fatalf("fence %d isn't above %d, given before", l.Fence, before.Fence)
		}
	}
	if l.Fence == 0 {
		f.t.Fatalf("the fence is 0")
	}
	f.leases = append(f.leases, l)
	return f.nameOf(session, l.Fence)
}

// renewed renews a lease, and shows how its end has moved.
func (f *fixture) renewed(l journal.Lease, ttl time.Duration) string {
	longer, err := f.store.Renew(f.ctx, l, ttl)
	if err != nil {
		return f.says(l.Session, l.Fence, err)
	}
	f.leases[f.index(l.Session, l.Fence)] = longer
	moved := comparison(longer.Until, l.Until)
	l.Until = longer.Until
	f.equal("renewed lease", longer, l)
	return moved
}

// compared compares a time of a head with what it was.
func (f *fixture) compared(which string, h journal.Head) string {
	at, key := map[string]time.Time{"created": h.Created, "updated": h.Updated}[which], which+" "+h.Session
	before, known := f.times[key]
	if f.times[key] = at; known {
		return comparison(at, before)
	}
	if which == "created" {
		return comparison(at, h.Updated) + " as the update"
	}
	return ""
}

func comparison(t, before time.Time) string {
	return [...]string{"earlier", "same time", "later"}[t.Compare(before)+1]
}

func (f *fixture) posts(c *command) string {
	var shown []string
	for _, id := range c.args[1:] {
		it := closing(id, c.list("closes")...)
		it.Time = recordTime.Add(-time.Duration(len(f.posted))) // not the order of posting
		if kind, ok := c.options["kind"]; ok {
			it.Kind, it.Data = kind, []byte(c.options["data"])
		}
		kept := it
		kept.Data, kept.Closes = slices.Clone(it.Data), nil
		err := f.store.Post(f.ctx, c.arg(0), it)
		overwrite(it.Data)
		for i := range it.Closes {
			it.Closes[i] = "overwritten"
		}
		if err == nil {
			f.posted[[2]string{c.arg(0), id}] = kept
		} else {
			shown = append(shown, f.says(c.arg(0), 0, err))
		}
	}
	return strings.Join(shown, " ")
}

func (f *fixture) taken(c *command) string {
	items, err := f.store.Take(f.ctx, c.arg(0), f.fence(c))
	if err != nil {
		return f.says(c.arg(0), f.fence(c), err)
	}
	var ids []string
	for i := range items {
		ids = append(ids, items[i].ID)
		f.equal("item", items[i], f.posted[[2]string{c.arg(0), items[i].ID}])
		overwrite(items[i].Data)
	}
	if len(ids) > 0 {
		f.equal("items that the head counts", f.head(c.arg(0)).Inbox, len(ids))
	}
	return strings.Join(ids, " ")
}
