package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/erase"
)

// Erased says what [Erase] has replaced.
type Erased struct {
	Sessions   int // in which something was replaced
	Facts      int // records that were rewritten
	Items      int // in inboxes
	Allowances int // whose keys were dropped with what was taken
	// Names are where words are left in names, as in `session "s-1": owner`: delete these sessions,
	// if they must go.
	Names []string
	// Left are the copies that the store can't reach, with the statements that remove them, where
	// there are some.
	Left []journal.Remains
}

// maxWith is how long the text is, in bytes, that takes the place of words.
const maxWith = 64

// Erase replaces the words of found by with, such as "[erased]", everywhere in the sessions that
// found names: in facts and snapshots, in titles and labels, and in inboxes. A word within a longer
// one ("Ann" in "planned") is only replaced if the match of [Find] finds it there, too. Allowances
// whose keys have such a word are dropped. Facts keep their number, time and kind, and everything
// else in them stays byte by byte. A session of agents then gets a [machine.Snapshot] that says how
// many facts were rewritten, so processes that know the session read it anew. It can be continued
// as before.
//
// Sessions whose run is in progress or paused, or that are in use otherwise, aren't changed: each
// is an [ErrBusy] in the error, which joins those of all sessions. Neither is a session whose log
// wouldn't be valid afterwards, for example because a label would be too long; the log of a plan is
// checked if the program has package plan. All others are erased. Erase takes the lease of a
// session, for 5 minutes at most. It stores the title, the labels and the snapshot first, and then
// rewrites the facts and the inbox, all or nothing. If that fails, Find still finds the words in
// them: find and erase again, until nothing is found.
//
// What a provider wants back verbatim (provider.Opaque) isn't changed inside: a message in whose
// data or reasoning a text is replaced loses all such data, and is sent back as that of another
// provider. A session that was copied (Fork) or that has subagents is several sessions, which Find
// finds all.
//
// The store must be a [journal.Eraser], or the error wraps [errors.ErrUnsupported].
func Erase(ctx context.Context, store journal.Store, found []Found, with string) (Erased, error) {
	var done Erased
	eraser, ok := store.(journal.Eraser)
	if !ok {
		return done, fmt.Errorf("agent: erasing texts: a store of type %T can only delete whole sessions: %w", store,
			errors.ErrUnsupported)
	}
	words, keys := make(map[string][]string), make(map[string][]string)
	var match func(text string) []string
	inNames := make(map[string][]string)
	for _, f := range found {
		match = f.match
		for _, member := range f.Names {
			inNames[f.Session] = append(inNames[f.Session], nameIn(f.Session, member))
		}
		to, name := words, f.Session
		if f.Session == "" {
			to, name = keys, f.Item
		}
		to[name] = append(to[name], f.Words...)
		for _, word := range f.Words {
			if word == "" || strings.Contains(with, word) {
				return done, &ArgError{Func: "Erase", Field: "with", Problem: "it has one of the words that it replaces"}
			}
		}
	}
	if with == "" || len(with) > maxWith || !utf8.ValidString(with) || strings.ContainsFunc(with, unicode.IsControl) {
		return done, &ArgError{Func: "Erase", Field: "with",
			Problem: fmt.Sprintf("it must have 1 to %d bytes of UTF-8 without control characters", maxWith)}
	}
	ctx = orBackground(ctx)
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(words)) {
		x := &erasure{store: eraser, with: with, words: erase.Sorted(words[name]), match: match, names: inNames[name]}
		if err := x.session(ctx, name, &done); err != nil {
			failed = append(failed, err)
		}
	}
	if len(keys) > 0 {
		n, err := eraser.DropAllowances(ctx, func(name, key string) bool {
			return erase.Replaced(keys[name], with, match).String(key) != key
		})
		if done.Allowances = n; err != nil {
			failed = append(failed, fmt.Errorf("agent: erasing texts: allowances: %w", err))
		}
	}
	if len(found) > 0 { // also what an earlier call has left, whose caller has died
		done.Left = eraser.Remains()
	}
	return done, errors.Join(failed...)
}

// eraseLease is how long a session is leased at most.
const eraseLease = 5 * time.Minute

// An erasure is the work on one session.
type erasure struct {
	store journal.Eraser
	lease journal.Lease
	words []string
	with  string
	match func(text string) []string // nil: found wasn't made by Find

	names   []string
	rewrite journal.Rewrite
	changed bool
}

// session replaces the words in a session, and adds to done what it has done.
func (x *erasure) session(ctx context.Context, name string, done *Erased) error {
	if _, err := x.store.Head(ctx, name); errors.Is(err, journal.ErrNoSession) {
		return nil // it was deleted meanwhile
	}
	var err error
	if len(x.words) > 0 {
		err = x.leased(ctx, name)
	}
	done.Names = append(done.Names, erase.Sorted(x.names)...)
	if err == nil && x.changed {
		done.Sessions++
		done.Facts, done.Items = done.Facts+len(x.rewrite.Records), done.Items+len(x.rewrite.Items)
	}
	if err == nil || errors.Is(err, ErrBusy) {
		return err
	}
	return fmt.Errorf("agent: session %q: erasing texts: %w", name, err)
}

// leased does the work while it has the lease of the session.
func (x *erasure) leased(ctx context.Context, name string) (err error) {
	x.lease, err = session.TakeLease(ctx, x.store, name, "erase-"+rand.Text(), eraseLease)
	if errors.As(err, new(*journal.HeldError)) {
		return &SessionError{Session: name, Code: ErrBusy, Err: err}
	}
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = x.store.Release(ctx, x.lease) // else it ends by itself
	}()
	return x.do(ctx)
}

func (x *erasure) do(ctx context.Context) error {
	head, err := x.store.Head(ctx, x.lease.Session)
	if err != nil {
		return err
	}
	busy := &SessionError{Session: head.Session, Code: ErrBusy}
	switch {
	case len(head.Open) > 0 || head.Status == string(Paused):
		busy.Problem = "it waits for a decision; make it, or delete the session"
		return busy
	case head.Status == string(Running) || head.Status == string(machine.Queued) || head.Status == "ending":
		busy.Problem = "it has a run in progress; wait for its end, or delete the session"
		return busy
	}
	recs, err := session.Records(ctx, x.store, head.Session, 0, 0)
	if err != nil {
		return err
	}
	items, err := x.store.Inbox(ctx, head.Session)
	if err != nil {
		return err
	}
	w := erase.Replaced(x.words, x.with, x.match)
	w.Name = func(member, name string) {
		if slices.ContainsFunc(x.words, func(word string) bool { return strings.Contains(name, word) }) {
			x.names = append(x.names, nameIn(head.Session, member))
		}
	}
	update := eraseHead(&head, w)
	x.rewrite = journal.Rewrite{Session: head.Session, Fence: x.lease.Fence}
	if x.rewrite.Records, err = rewritten(&head, recs, w); err != nil {
		return err
	}
	for _, it := range items {
		if data := w.Record(it.Kind, it.Data); string(data) != string(it.Data) {
			it.Data = data
			x.rewrite.Items = append(x.rewrite.Items, it)
		}
	}
	app := journal.Append{Session: head.Session, After: head.Seq, Fence: x.lease.Fence}
	if head.Kind == "" && len(x.rewrite.Records) > 0 {
		if app.Records, app.Head, err = x.snapshot(recs); err != nil {
			return err
		}
	} else if head.Title != update.Title || !maps.Equal(head.Labels, update.Labels) {
		app.Head = update
	}
	if x.changed = app.Head != nil || len(x.rewrite.Records)+len(x.rewrite.Items) > 0; !x.changed {
		return nil
	}
	if err := x.rewrite.Validate(); err != nil {
		return err
	}
	if app.Head != nil { // first, so that what is left if the next call fails is found again
		if err := session.Store(ctx, x.store, app); err != nil {
			return err
		}
	}
	return x.store.Rewrite(ctx, x.rewrite)
}

// nameIn says where a name is: see [Erased].
func nameIn(session, member string) string { return fmt.Sprintf("session %q: %s", session, member) }

// snapshot returns a record with the state after the facts of a session, which were rewritten, and
// its head. If they don't give one, nothing may be stored.
func (x *erasure) snapshot(recs []journal.Record) (_ []journal.Record, _ *journal.HeadUpdate, err error) {
	facts := make([]Fact, len(recs))
	for i := range recs {
		if facts[i], err = machine.Decode(x.lease.Session, recs[i]); err != nil {
			return nil, nil, err
		}
	}
	m, err := machine.Replay(x.lease.Session, facts...)
	if err != nil {
		return nil, nil, err
	}
	state, err := m.State().Clone()
	if err != nil {
		return nil, nil, err
	}
	r, s := m.State().Run, &machine.Snapshot{State: state, Erased: len(x.rewrite.Records)}
	meta := Meta{Origin: &machine.Origin{Session: x.lease.Session, Run: r.ID, Parent: r.Parent, Agent: r.Agent,
		Trace: r.Trace, Labels: m.State().Labels}, Seq: m.State().Seq + 1, Time: time.Now().UTC().Round(0),
		V: machine.Version, Step: r.Step}
	f := machine.Stamp(s, meta)
	if err := m.Apply(f); err != nil {
		return nil, nil, err
	}
	rec, err := machine.Encode(f)
	return []journal.Record{rec}, m.Head(), err
}

// rewritten replaces the texts of all records of a session, and returns those that it has changed.
func rewritten(h *journal.Head, recs []journal.Record, w *erase.Walk) (changed []journal.Record, err error) {
	was, some := slices.Clone(recs), false
	for i := range recs {
		if was[i].Data, err = dataOf(recs[i]); err != nil {
			return nil, err
		}
		if data := w.Record(recs[i].Kind, was[i].Data); string(data) != string(was[i].Data) {
			recs[i].Value, recs[i].Data, some = nil, data, true
		}
	}
	if complete := session.Erasing[h.Kind]; complete != nil && some {
		if err := complete(h.Session, was, recs); err != nil {
			return nil, err
		}
	}
	for i := range recs {
		if recs[i].Value == nil && string(recs[i].Data) != string(was[i].Data) {
			changed = append(changed, recs[i])
		}
	}
	return changed, nil
}

// A Found says where a store has words that [Find] looked for.
type Found struct {
	// Session is the session, or the log of another package, that has them; empty for an allowance.
	Session string
	// Seq is the number of the record that has them; 0: the head, an item in the inbox, or an
	// allowance.
	Seq uint64
	// Kind is that of the record or of the item, "head", or "allowance".
	Kind string
	// Item is the id of an item in the inbox, or the name of an allowance whose key has them.
	Item string
	// Words are those in texts, each once, sorted. [Erase] replaces them.
	Words []string
	// Names are the members that have some of them in a name, such as "owner" or "id", or "session"
	// for the session's own name. Erase leaves names as they are: delete the session instead.
	Names []string

	match func(text string) []string // of Find
}

// Find looks for words in all that a journal's store has: heads, facts, snapshots, the logs of
// other packages such as plans, inboxes, and the keys of allowances. It reads all of it, and
// changes nothing. The sessions come in the order of their names.
//
// match gets each text and returns the words in it that are to be erased, as they stand there; nil:
// none. It gets texts decoded: strings of JSON, also of JSON in a string, the content of text files
// (of UTF-8, UTF-16, and else as Latin-1), what an address escapes, and the numbers in the inputs
// and results of tools. A regular expression does it:
//
//	ann := regexp.MustCompile(`(?i)ann@a\.example|\bAnn Lee\b`)
//	match := func(text string) []string { return ann.FindAllString(text, -1) }
//
// An error that comes with the name of a session is about that session, and the sequence goes on.
// Any other ends it. The inboxes and allowances of a store that isn't a [journal.Eraser] aren't
// searched. What can't be read isn't either: images, and what providers return encrypted.
func Find(ctx context.Context, store journal.Store, match func(text string) []string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if store == nil || match == nil {
			yield(Found{}, &ArgError{Func: "Find", Problem: "it needs a store and a function match"})
			return
		}
		ctx := orBackground(ctx)
		f := finder{store: store, match: match}
		f.eraser, _ = store.(journal.Eraser)
		for h, err := range store.Heads(ctx, journal.Filter{}) {
			if err != nil && h.Session == "" {
				yield(Found{}, fmt.Errorf("agent: finding texts: listing sessions: %w", err))
				return
			}
			if err == nil {
				err = f.session(ctx, &h, yield)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil && !yield(Found{Session: h.Session},
				fmt.Errorf("agent: session %q: finding texts: %w", h.Session, err)) {
				return
			}
		}
		f.allowances(ctx, yield)
	}
}

// errEnough says that the caller of [Find] has left its loop.
var errEnough = errors.New("agent: the loop has ended")

type finder struct {
	store  journal.Store
	eraser journal.Eraser // nil: the store isn't one
	match  func(text string) []string
}

// in yields found, if visit finds words.
func (f *finder) in(found Found, yield func(Found, error) bool, visit func(*erase.Walk)) error {
	visit(erase.Found(f.match, &found.Words, &found.Names))
	found.Words, found.Names = erase.Sorted(found.Words), erase.Sorted(found.Names)
	found.match = f.match
	if len(found.Words)+len(found.Names) > 0 && !yield(found, nil) {
		return errEnough
	}
	return nil
}

func (f *finder) session(ctx context.Context, h *journal.Head, yield func(Found, error) bool) error {
	err := f.in(Found{Session: h.Session, Kind: "head"}, yield, func(w *erase.Walk) { eraseHead(h, w) })
	for after, more := uint64(0), err == nil; more; {
		recs, err := session.Records(ctx, f.store, h.Session, after, watchAtOnce)
		if err != nil {
			return err
		}
		for _, rec := range recs {
			after = rec.Seq
			data, err := dataOf(rec)
			if err != nil {
				return err
			}
			if err := f.in(Found{Session: h.Session, Seq: rec.Seq, Kind: rec.Kind}, yield,
				func(w *erase.Walk) { w.Record(rec.Kind, data) }); err != nil {
				return err
			}
		}
		more = len(recs) == watchAtOnce
	}
	if err != nil || f.eraser == nil || h.Inbox == 0 {
		return err
	}
	items, err := f.eraser.Inbox(ctx, h.Session)
	for _, it := range items {
		if err := f.in(Found{Session: h.Session, Kind: it.Kind, Item: it.ID}, yield,
			func(w *erase.Walk) { w.Record(it.Kind, it.Data) }); err != nil {
			return err
		}
	}
	return err
}

func (f *finder) allowances(ctx context.Context, yield func(Found, error) bool) {
	if f.eraser == nil {
		return
	}
	var all []Found
	_, err := f.eraser.DropAllowances(ctx, func(name, key string) bool {
		_ = f.in(Found{Kind: "allowance", Item: name}, func(found Found, _ error) bool {
			all = append(all, found)
			return true
		}, func(w *erase.Walk) { w.String(key) })
		return false
	})
	for _, found := range all {
		if !yield(found, nil) {
			return
		}
	}
	if err != nil {
		yield(Found{}, fmt.Errorf("agent: finding texts: reading allowances: %w", err))
	}
}

// dataOf returns the data of a record. A store in memory may have only its fact.
func dataOf(rec journal.Record) ([]byte, error) {
	f, ok := rec.Value.(Fact)
	if !ok || len(rec.Data) > 0 {
		return rec.Data, nil
	}
	encoded, err := machine.Encode(f)
	return encoded.Data, err
}

// eraseHead replaces the texts of a head. Which names it has, w.Name learns.
func eraseHead(h *journal.Head, w *erase.Walk) *journal.HeadUpdate {
	w.Name("session", h.Session)
	w.Name("parent", h.Parent)
	for _, o := range h.Open { // Erase refuses a session that has some
		w.String(o.Title + "\n" + o.What)
	}
	return &journal.HeadUpdate{Status: h.Status, Kind: h.Kind, Title: w.String(h.Title), Parent: h.Parent,
		Info: h.Info, Due: h.Due,
		Labels: w.Labels(h.Labels, map[string]string{machine.OwnerLabel: "owner", machine.TreeLabel: "tree"})}
}
