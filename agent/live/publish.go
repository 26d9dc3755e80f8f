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
	p := &publisher{session: t.session}
	r := &reader{ctx: h.runs, session: h.cfg.Agent.Session(t.session), topic: h.join(t.session), yield: p.take}
	defer h.part(r.topic)
	defer context.AfterFunc(h.runs, t.wake)()
	t.mu.Lock()
	r.after = t.seq
	p.last = busMessage{From: rand.Text(), Run: t.newest.Run(), Seq: t.seq}
	t.mu.Unlock()
	read := make(chan struct{})
	h.work.Go(func() {
		defer close(read)
		r.readRun()
	})
	tick, whole := time.NewTicker(publishEvery), time.NewTicker(wholeEvery)
	defer tick.Stop()
	defer whole.Stop()
	quiet := time.Time{} // nothing is published until then, because the bus has failed
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-whole.C:
			p.addWhole()
		case <-read:
			over = true
			p.mu.Lock()
			p.add(p.last.Seq, false, true)
			p.mu.Unlock()
		}
		queue := p.queued()
		if time.Now().Before(quiet) {
			continue
		}
		if err := h.publishAll(t.session, queue); err != nil {
			if quiet.IsZero() {
				h.cfg.Logger.Warn("live: publishing to the bus; it is tried each second", "session", t.session, "error", err)
			}
			quiet = time.Now().Add(wholeEvery)
		}
	}
}

// readRun reads the run in progress to its end. If the journal can't be read, it begins again.
func (r *reader) readRun() {
	for again := false; ; again = true {
		err := r.catchUp(again)
		if err == nil {
			err = r.follow()
		}
		if err == nil || r.ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(pollJournal):
		case <-r.ctx.Done():
			return
		}
	}
}

// take takes an event of the run, and returns true.
func (p *publisher) take(ev agent.Event, _ error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	meta := ev.Envelope()
	own := meta.Session() == p.session
	if _, fact := ev.(agent.Fact); own && fact {
		p.last.Run = meta.Run()
		p.add(meta.Seq, p.reply.fact(ev), false)
		return true
	}
	if own {
		p.reply.add(ev)
	}
	if len(p.queue) == 0 {
		p.add(p.last.Seq, false, false)
	}
	if raw, err := agent.MarshalEvent(ev); err == nil {
		newest := &p.queue[len(p.queue)-1]
		newest.Notes = append(newest.Notes, raw)
	}
	return true
}

// add begins another message. The caller holds mu.
func (p *publisher) add(seq uint64, clear, end bool) {
	p.last.Number++
	p.last.Seq = seq
	next := p.last
	next.Clear, next.End = clear, end
	p.queue = append(p.queue, next)
}

// addWhole adds the reply so far.
func (p *publisher) addWhole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(p.last.Seq, false, false)
	whole := &p.queue[len(p.queue)-1]
	whole.Whole = true
	for _, note := range p.reply.notes() {
		if raw, err := agent.MarshalEvent(note); err == nil {
			whole.Notes = append(whole.Notes, raw)
		}
	}
	p.add(p.last.Seq, false, false) // what follows isn't part of it
}

// queued returns the messages to publish.
func (p *publisher) queued() []busMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.queue
	p.queue = nil
	return queue
}

// publishAll publishes messages. What can't be published is lost: the numbers say so.
func (h *Hub) publishAll(session string, queue []busMessage) error {
	ctx, cancel := context.WithTimeout(context.Background(), publishTime)
	defer cancel()
	for i := range queue {
		raw, err := json.Marshal(&queue[i])
		if err == nil {
			err = contained(func() error { return h.cfg.Bus.Publish(ctx, topicOf(session), raw) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}
