package board

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/stream/sse"
)

// A viewer is the board as one page sees it: parts, by name, each as JSON. The page compares the
// versions of a plan, sorts the steps into layers, and has all words.
type viewer struct {
	Config
	parts map[string]any
	steps map[string]string // by their sessions
	open  bool              // something may change of which no event tells
	sent  map[string][]byte // the parts that the page has
	pokes int               // of the feed, when parts were made

	mu   sync.Mutex // guards what follows
	talk talk
}

// follow takes the events of the conversation until ctx ends, or they can't be read.
func (v *viewer) follow(ctx context.Context, after uint64) {
	for ev, err := range v.Hub.Watch(ctx, v.talk.session, after) {
		switch ev.(type) {
		case nil, *agent.TextDelta, *agent.ReasoningDelta, *agent.CallDelta:
			v.note(ctx, err)
			continue
		}
		v.mu.Lock()
		v.talk.event(ev)
		v.mu.Unlock()
		v.Feed.Poke()
	}
}

// next writes what has changed, and waits until something changes. It reports false when ctx or the
// hub ends, or the reader has gone. A slow reader gets the newest state.
func (v *viewer) next(ctx context.Context, out *sse.Writer) bool {
	changed, pokes := v.Feed.state()
	if pokes != v.pokes {
		v.mu.Lock()
		t := v.talk
		v.mu.Unlock()
		v.pokes = pokes
		v.load(ctx, &t)
	}
	if data := v.message(ctx); data != nil && out.Write(sse.Event{Data: data}) != nil {
		return false
	}
	select {
	case <-time.After(every):
	case <-ctx.Done():
	}
	select {
	case <-changed:
	case <-time.After(again):
		if v.open {
			v.pokes = -1
		}
	case <-v.Hub.Closing():
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// note logs why a part of the board is missing.
func (v *viewer) note(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) && ctx.Err() == nil {
		slog.WarnContext(ctx, "board: a part can't be shown", "session", v.talk.session, "error", err)
	}
}

// load makes all parts, but for what is live.
func (v *viewer) load(ctx context.Context, t *talk) {
	parts, steps := v.parts, v.steps
	grants, err := v.Grants(ctx)
	v.note(ctx, err)
	v.parts, v.steps = map[string]any{"grants": grants, "plan": nil, "done": nil}, make(map[string]string)
	if v.open = false; t.session == "" {
		return
	}
	works, err := v.Background(ctx, t.session)
	v.note(ctx, err)
	v.parts["background"] = works
	v.open = slices.ContainsFunc(works, func(w BackgroundWork) bool {
		return w.State == "running" || w.State == "paused"
	})
	var atWork bool
	switch {
	case t.run != "":
		s, err := v.Plans.State(ctx, t.run)
		if err != nil { // what is shown stays, and it is tried again
			v.note(ctx, err)
			v.parts, v.steps, v.open = parts, steps, true
			return
		}
		atWork = v.loadRun(ctx, t, s)
	case t.call != "":
		v.parts["plan"] = map[string]any{"plan": t.input, "before": t.before, "version": t.version,
			"status": t.status()}
	}
	v.loadAsks(ctx, t, atWork)
}

// loadRun adds a run with its steps, and reports whether it is at work.
func (v *viewer) loadRun(ctx context.Context, t *talk, s *plan.State) bool {
	v.parts["plan"] = map[string]any{"plan": s.Plan(), "version": t.version, "status": s.Status, "run": t.run,
		"reason": s.Reason}
	if s.Status == plan.Completed || s.Status == plan.Canceled {
		done, err := v.Done(ctx, t.run)
		v.note(ctx, err)
		if done != nil {
			short := *done
			short.Files = shortened(done.Files)
			v.parts["done"] = &short
		}
	}
	for _, n := range s.Nodes {
		id, said := n.Node.ID, ""
		_ = json.Unmarshal(n.Output, &said) // what a worker has produced is text
		n.Output = nil
		one := map[string]any{"state": n, "said": last(said, tail)}
		if n.Attempts > 0 || n.Status != "pending" {
			files, err := v.Staged(ctx, t.run, id)
			v.note(ctx, err)
			one["files"] = shortened(files)
			one["runs"], err = v.Checks(ctx, t.run, id)
			v.note(ctx, err)
		}
		v.parts["step "+id], v.steps[plan.SessionOf(t.run, s.Current, id)] = one, id
	}
	atWork := s.Status == "running"
	v.open = v.open || atWork || s.Status == "undoing"
	return atWork
}

// shortened returns files with the beginning of their diffs. One that is cut ends with "…".
func shortened(files []FileChange) []FileChange {
	files = slices.Clone(files)
	for i, f := range files {
		if len(f.Diff) > most {
			files[i].Diff = strings.ToValidUTF8(f.Diff[:most], "") + "\n…\n"
		}
	}
	return files
}

// loadAsks adds what waits for a person: pauses of the conversation that are about the plan, and
// while it is at work those of its steps, which the conversation has later. The path of a pause
// begins with the step; that of the plan has none.
func (v *viewer) loadAsks(ctx context.Context, t *talk, atWork bool) {
	pending, err := v.Hub.Agent().Session(t.session).Pending(ctx)
	v.note(ctx, err)
	asks := []agent.Pause{}
	for _, p := range pending {
		if len(p.Path) > 1 && p.Path[0] == t.call {
			p.Path = p.Path[1:]
			asks = append(asks, p)
		} else if p.ID == t.pause {
			asks = append(asks, p)
		}
	}
	if atWork {
		early, err := v.Plans.Pending(ctx, t.run)
		v.note(ctx, err)
		asks = append(asks, slices.DeleteFunc(early, func(p agent.Pause) bool {
			return slices.ContainsFunc(asks, func(a agent.Pause) bool { return a.ID == p.ID })
		})...)
	}
	v.parts["asks"] = asks
}

// message returns the parts that the page doesn't have yet, as one object; nil if there are none.
// Those that are gone are null.
func (v *viewer) message(ctx context.Context) []byte {
	for session, id := range v.steps {
		text, calls := v.Feed.look(session)
		v.parts["live "+id] = map[string]any{"said": text, "calls": calls}
	}
	news := make(map[string]json.RawMessage)
	for name := range v.sent {
		if _, ok := v.parts[name]; !ok { // a step of an earlier plan
			delete(v.sent, name)
			news[name] = json.RawMessage("null")
		}
	}
	for name, part := range v.parts {
		data, err := json.Marshal(part)
		if v.note(ctx, err); !bytes.Equal(data, v.sent[name]) {
			v.sent[name], news[name] = data, data
		}
	}
	if len(news) == 0 {
		return nil
	}
	data, err := json.Marshal(news)
	v.note(ctx, err)
	return data
}
