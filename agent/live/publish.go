package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// A publisher publishes the events of a run of this hub.
type publisher struct {
	session string

	mu    sync.Mutex   // guards what follows
	queue []busMessage // not published yet; notes are added to the last one
	reply partial      // so far
	last  busMessage   // the newest, without notes
}

// publishRun publishes the events of the run in progress until it has ended.
func (h *Hub) publishRun(t *topic) {
	ctx, cancel := context.WithCancel(h.runs)
	defer cancel()
	c := &publisher{session: t.session}
	r := &reader{ctx: context.Background(), session: h.cfg.Agent.Session(t.session), topic: h.join(t.session),
		yield: c.take}
	defer h.part(r.topic)
	t.mu.Lock()
	r.after = t.seq
	c.last = busMessage{From: rand.Text(), Run: t.newest.Run(), Seq: t.seq}
	t.mu.Unlock()
	read := make(chan struct{})
	h.work.Go(func() { // it ends with the run
		defer close(read)
		if r.catchUp(false) == nil && !r.left {
			_ = r.follow()
		}
	})
	tick, whole := time.NewTicker(publishEvery), time.NewTicker(wholeEvery)
	defer tick.Stop()
	defer whole.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-whole.C:
			c.addWhole()
		case <-read:
			over = true
			c.mu.Lock()
			c.add(c.last.Seq, false, true)
			c.mu.Unlock()
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(context.Background(), publishLast)
			defer stop()
		}
		h.publishAll(ctx, t.session, c.queued())
	}
}

// take takes an event of the run. It returns false after the last one.
func (c *publisher) take(ev agent.Event, err error) bool {
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	meta := ev.Envelope()
	own := meta.Session() == c.session
	if _, fact := ev.(agent.Fact); own && fact {
		c.last.Run = meta.Run()
		c.add(meta.Seq, c.reply.fact(ev), false)
		return true
	}
	if own {
		c.reply.add(ev)
	}
	if len(c.queue) == 0 {
		c.add(c.last.Seq, false, false)
	}
	if raw, err := agent.MarshalEvent(ev); err == nil {
		newest := &c.queue[len(c.queue)-1]
		newest.Notes = append(newest.Notes, raw)
	}
	return true
}

// add begins another message. The caller holds mu.
func (c *publisher) add(seq uint64, clear, end bool) {
	c.last.Number++
	c.last.Seq = seq
	next := c.last
	next.Clear, next.End = clear, end
	c.queue = append(c.queue, next)
}

// addWhole adds the reply so far.
func (c *publisher) addWhole() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(c.last.Seq, false, false)
	whole := &c.queue[len(c.queue)-1]
	whole.Whole = true
	for _, note := range c.reply.notes() {
		if raw, err := agent.MarshalEvent(note); err == nil {
			whole.Notes = append(whole.Notes, raw)
		}
	}
	c.add(c.last.Seq, false, false) // what follows isn't part of it
}

// queued returns the messages to publish.
func (c *publisher) queued() []busMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.queue
	c.queue = nil
	return queue
}

// publishAll publishes messages. What can't be published is lost: the numbers say so.
func (h *Hub) publishAll(ctx context.Context, session string, queue []busMessage) {
	for i := range queue {
		raw, err := json.Marshal(&queue[i])
		if err == nil {
			err = contained(func() error { return h.cfg.Bus.Publish(ctx, topicOf(session), raw) })
		}
		if err != nil {
			h.cfg.Logger.WarnContext(ctx, "live: publishing to the bus", "session", session, "error", err)
			return
		}
	}
}
