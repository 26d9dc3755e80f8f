package live

import (
	"context"
	"iter"

	"github.com/pawlkit/pawl/agent"
)

// Watch returns the events of a session from a fact's number on: the facts after it; the text and
// the arguments so far of the model call in progress, as one note each; and then all later events.
// After a run it waits for the next one. [agent.MarshalEvent] encodes events for readers elsewhere.
//
//   - A [agent.RunEnded] has no Result: see [agent.Session.Result]. A fact has its own session in
//     its envelope; other sessions are those of subagents, whose events are shown only if the input
//     asked for them (Input.Children), and may be left out like notes.
//   - Pieces of text may come joined: to a reader that is behind, and where a session has more than
//     20 readers, which are woken at most every 50 µs for each of them.
//   - A reader that is too slow gets an [agent.Lagged] for the notes that were left out. It misses
//     no fact.
//   - While this hub drives no run of the session, facts come from the journal: see
//     [agent.Session.Watch], also for its errors. Then there are notes only with a [Bus].
//
// The sequence ends with an error: the cause when ctx ends, and [ErrClosed] when the hub is closed.
// Watch again with the number of the last fact to continue. Each range over the sequence begins
// anew. Leaving the loop doesn't stop the run.
func (h *Hub) Watch(ctx context.Context, session string, after uint64) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if h == nil || h.topics == nil {
			yield(nil, errNoHub)
			return
		}
		if ctx == nil {
			ctx = context.Background()
		}
		own, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(h.closed, func() { cancel(context.Cause(h.closed)) })()
		r := &reader{ctx: own, session: h.cfg.Agent.Session(session), topic: h.join(session), after: after,
			yield: yield}
		defer h.part(r.topic)
		defer h.subscribe(r.topic)()
		defer context.AfterFunc(own, r.topic.wake)()
		if err := r.read(); err != nil {
			if own.Err() != nil {
				err = context.Cause(own)
			}
			yield(nil, err)
		}
	}
}

// join returns the topic of a session for another reader.
func (h *Hub) join(session string) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topic(session)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers++
	return t
}

// part ends the use of a topic by a reader.
func (h *Hub) part(t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.mu.Lock()
	if t.readers--; t.readers == 0 {
		t.forgetAll()
	}
	t.mu.Unlock()
	h.forget(t)
}

// wake wakes the readers, so that they look at their contexts.
func (t *topic) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved.Broadcast()
}

// A reader is a range over the events of a session.
type reader struct {
	ctx     context.Context
	session *agent.Session
	topic   *topic
	yield   func(agent.Event, error) bool

	after  uint64 // the number of the last fact that was shown
	at     int    // the number of the next event of the topic
	passed uint64 // the number of the newest fact before that; less than after if the journal was ahead
	notes  int    // how many of the events before that are notes
	left   bool
	batch  [64]agent.Event
}

// read shows events until the consumer leaves.
func (r *reader) read() error {
	err := r.catchUp(false)
	for err == nil && !r.left {
		if err = r.poll(); err == nil && !r.left {
			err = r.follow()
		}
	}
	return err
}

// poll shows facts from the journal while this hub drives no run of the session.
func (r *reader) poll() error {
	t := r.topic
	t.mu.Lock()
	if t.driven || r.at != t.head() {
		t.mu.Unlock()
		return nil
	}
	if t.polling++; t.polling == t.readers { // all have shown what the last run has published
		t.forgetAll()
	}
	begun := t.idle
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.polling--
	}()
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	defer context.AfterFunc(begun, cancel)()
	for ev, err := range r.session.Watch(ctx, r.after) {
		if err != nil {
			if begun.Err() != nil && r.ctx.Err() == nil {
				err = nil
			}
			return err
		}
		if begun.Err() != nil || !r.show(ev) { // a run of this hub has begun: its events come from the topic
			return nil
		}
	}
	return nil
}

// follow shows the events of a run of this hub until it has ended.
func (r *reader) follow() error {
	for {
		n, lost, over := r.next()
		switch {
		case r.ctx.Err() != nil && (n == 0 || context.Cause(r.ctx) != ErrClosed):
			// a hub that is closed shows what is left
			return context.Cause(r.ctx)
		case lost:
			if err := r.catchUp(true); err != nil || r.left {
				return err
			}
			continue
		case over:
			return nil
		}
		for i := 0; i < n; {
			ev, of := joined(r.batch[i:n])
			r.notes += of - 1
			if err := r.showNext(ev); err != nil || r.left {
				return err
			}
			i += of
		}
		clear(r.batch[:n])
	}
}

// catchUp shows the facts up to now, and the reply so far of the model call in progress. If the
// reader was too slow, it is told what it has missed.
func (r *reader) catchUp(lagged bool) error {
	t := r.topic
	t.mu.Lock()
	seq, partial := t.seq, t.call.notes()
	missed := t.notes - r.notes
	meta := agent.NoteMeta{Origin: t.newest.Origin, Step: t.newest.Step}
	r.at, r.passed, r.notes = t.head(), seq, t.notes
	t.mu.Unlock()
	if lagged && (missed > 0 || len(partial) > 0) && !r.show(&agent.Lagged{NoteMeta: meta, Notes: missed}) {
		return nil
	}
	if err := r.fill(seq); err != nil || r.left {
		return err
	}
	for _, ev := range partial {
		if r.left || r.stale() {
			return nil
		}
		r.show(ev)
	}
	return nil
}

// stale reports whether the next note comes before facts that were shown, which say more: the
// journal has a fact before the topic does.
func (r *reader) stale() bool { return r.passed < r.after }

// next waits for the next events, and copies them into the batch. lost says that some of them are
// gone, and over that the run has ended and all of its events were shown.
func (r *reader) next() (n int, lost, over bool) {
	t := r.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	for r.at == t.head() {
		if !t.driven || r.ctx.Err() != nil {
			return 0, false, !t.driven
		}
		t.moved.Wait()
	}
	if r.at < t.first {
		return 0, true, false
	}
	n = copy(r.batch[:], t.events[r.at-t.first:])
	r.at += n
	return n, false, false
}

// showNext shows an event of the topic. Facts that aren't there, or that were shown, come from the
// journal, or are left out.
func (r *reader) showNext(ev agent.Event) error {
	meta := ev.Envelope()
	_, missing := ev.(*hole)
	if _, fact := ev.(agent.Fact); !missing && (!fact || meta.Session() != r.topic.session) {
		r.notes++
		if !r.stale() {
			r.show(ev)
		}
		return nil
	}
	r.passed = meta.Seq
	if missing {
		return r.fill(meta.Seq)
	}
	if err := r.fill(meta.Seq - 1); err != nil || r.left {
		return err
	}
	if meta.Seq > r.after {
		r.show(ev)
	}
	return nil
}

// fill shows the facts up to that number, which are in the journal.
func (r *reader) fill(upTo uint64) error {
	if r.after >= upTo {
		return nil
	}
	for ev, err := range r.session.Watch(r.ctx, r.after) {
		if err != nil {
			return err
		}
		if !r.show(ev) || r.after >= upTo {
			return nil
		}
	}
	return nil
}

// show shows one event. It returns false if the consumer has left.
func (r *reader) show(ev agent.Event) bool {
	if meta := ev.Envelope(); meta.Session() == r.topic.session && meta.Seq > 0 {
		r.after = meta.Seq
	}
	r.left = !r.yield(ev, nil)
	return !r.left
}
