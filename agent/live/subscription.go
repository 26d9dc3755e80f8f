package live

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// A subscription is what a topic gets by the bus.
type subscription struct {
	readers int // who wants it
	end     context.CancelFunc
	next    busMessage // the next message: its publisher and number
	synced  bool       // readers have all notes of the reply in progress
}

// subscribe has a topic get what comes by the bus, until the function that it returns is called.
func (h *Hub) subscribe(t *topic) (leave func()) {
	if h.cfg.Bus == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subscribed.readers++; t.subscribed.readers == 1 {
		ctx, cancel := context.WithCancel(h.closed)
		t.subscribed.end = cancel
		h.subscribed.Go(func() { h.receiveFrom(ctx, t) })
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.subscribed.readers--; t.subscribed.readers == 0 {
			t.subscribed.end()
		}
	}
}

// receiveFrom receives what comes by the bus.
func (h *Hub) receiveFrom(ctx context.Context, t *topic) {
	silence := time.AfterFunc(mostSilence, t.gone)
	defer func() {
		silence.Stop()
		t.gone()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(t)
	}()
	for ctx.Err() == nil {
		err := contained(func() error {
			for message, err := range h.cfg.Bus.Subscribe(ctx, topicOf(t.session)) {
				if err != nil {
					return err
				}
				var c busMessage
				if json.Unmarshal(message, &c) == nil {
					silence.Reset(mostSilence)
					t.receive(&c)
				}
			}
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		h.cfg.Logger.WarnContext(ctx, "live: the subscription to the bus has ended", "session", t.session, "error", err)
		select {
		case <-time.After(subscribeAgain):
		case <-ctx.Done():
		}
	}
}

// receive takes a message about a run of another hub.
func (t *topic) receive(c *busMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.driven && !t.remote || c.From == t.subscribed.next.From && c.Number < t.subscribed.next.Number {
		return
	}
	defer t.announce()
	if !t.driven {
		t.driven, t.remote = true, true
		t.begun()
	}
	// otherwise some are lost, or came before this hub subscribed
	if c.From != t.subscribed.next.From || c.Number != t.subscribed.next.Number {
		t.subscribed.synced = false
	}
	t.subscribed.next = busMessage{From: c.From, Number: c.Number + 1}
	origin := &machine.Origin{Session: t.session, Run: c.Run}
	if c.Seq > t.seq {
		t.seq = c.Seq
		meta := agent.Meta{Origin: origin, Seq: c.Seq}
		t.add(&hole{meta}, meta)
	}
	switch {
	case c.Clear:
		t.call.clear()
		t.subscribed.synced = true
	case c.Whole && !t.subscribed.synced:
		if t.call.pieces != nil { // readers have begun to show the reply
			t.note(&agent.Lagged{NoteMeta: agent.NoteMeta{Origin: origin}})
		}
		t.subscribed.synced = true
	case c.Whole, !t.subscribed.synced:
		c.Notes = nil
	}
	for _, raw := range c.Notes {
		if note, err := agent.UnmarshalEvent(raw); err == nil {
			t.note(note)
		}
	}
	if c.End {
		t.finish()
	}
}

// note adds a note. The caller holds mu.
func (t *topic) note(note agent.Event) {
	meta := note.Envelope()
	if meta.Session() == t.session {
		t.call.add(note)
	}
	t.notes++
	t.add(note, meta)
}

// gone ends what came by the bus: nothing has come for too long, or nobody wants it any more.
func (t *topic) gone() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.remote {
		t.finish()
		t.moved.Broadcast()
	}
}
