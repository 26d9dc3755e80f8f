package serve

import (
	"errors"
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/stream/sse"
)

// A streamFrom says what a stream begins with.
type streamFrom struct {
	after uint64 // the number of a fact: with what follows it
	// snapshot: with all messages that there are, and what follows them
	snapshot bool
	unread   *unread // a message that the run in progress was sent
}

// An unread message was sent to a run that may end before it reads it.
type unread struct {
	message message
	shown   *agui.Message // as the client has it
}

// An aguiStream is the answer to a post: a run of AG-UI.
type aguiStream struct {
	*aguiPost
	r      *http.Request
	from   streamFrom
	events *agui.Writer
	to     aguiMap
	seen   uint64 // the newest fact that was shown
	facts  uint64 // the newest one when the stream began: a pause before it may be over
}

// stream streams the events of the session until its run has ended or paused.
func (a *aguiPost) stream(w http.ResponseWriter, r *http.Request, from streamFrom) *problem {
	info, err := a.grant.session.Info(r.Context())
	if err != nil {
		return failed(err)
	}
	return a.respond(w, r, func(out *response) *problem {
		events := agui.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) })
		if a.in.ProtocolVersion == "" {
			events.Before10()
		}
		if err := events.Write(agui.RunStarted{ThreadID: a.in.ThreadID, RunID: a.in.RunID}); err != nil {
			return malformed("%v", err)
		}
		defer events.Close()
		_ = events.Write(agui.StateSnapshot{Snapshot: stateOf(a.in.ThreadID, "")})
		st := &aguiStream{aguiPost: a, r: r, from: from, events: events, seen: from.after, facts: info.Facts,
			to: aguiMap{put: events.Write, results: resultsIn(a.in.Messages)}}
		if from.snapshot {
			if err := st.begin(out); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				a.log.WarnContext(r.Context(), "serve: a stream has ended", "session", a.in.ThreadID, "error", err)
				_ = events.Write(lost)
				return nil
			}
		}
		if p := a.watch(out, a.grant, st.seen, func(ev agent.Event) error { return st.show(out, ev) }); p != nil {
			_ = events.Write(lost)
		}
		return nil
	})
}

// lost ends a stream whose run goes on.
var lost = agui.RunError{Message: "The connection was lost. The work goes on; connect again.", Code: codeUnavailable}

// begin puts all messages that there are. It returns errEnough if nothing follows, because the run
// has ended or paused.
func (st *aguiStream) begin(out *response) error {
	facts, err := st.grant.session.Facts(out.ctx)
	if err != nil {
		return err
	}
	for _, f := range facts {
		st.read(f)
		st.seen = f.Envelope().Seq
	}
	h := historyOf(facts, st.in.Messages)
	messages := st.restated(h)
	// a client adds what it hasn't at its end, and so it drops what belongs after that first
	if n, more := inOrder(messages, st.in.Messages); more {
		if err := st.events.Write(agui.MessagesSnapshot{Messages: messages[:n]}); err != nil {
			return err
		}
	}
	if err := st.events.Write(agui.MessagesSnapshot{Messages: messages}); err != nil {
		return err
	}
	st.to = h.end
	st.to.put, st.to.results, st.to.shown = st.events.Write, resultsIn(st.in.Messages), display.Reply{}
	info, err := st.grant.session.Info(out.ctx)
	if err != nil {
		return err
	}
	if st.to.ending == nil || info.Status == agent.Running || info.Facts > st.seen {
		return nil
	}
	return st.conclude(out)
}

// inOrder returns how many of the first messages a client has in their order, and whether it has
// more of them.
func inOrder(messages, client []agui.Message) (n int, more bool) {
	for i := range client {
		if n < len(messages) && client[i].ID == messages[n].ID {
			n++
		} else if slices.ContainsFunc(messages, func(m agui.Message) bool { return m.ID == client[i].ID }) {
			return n, true
		}
	}
	return n, false
}

// read notes that the run has read the message that it was sent.
func (st *aguiStream) read(ev agent.Event) {
	f, ok := ev.(agent.Fact)
	if !ok || st.from.unread == nil {
		return
	}
	if u, _ := inputOf(f); u.key == st.from.unread.message.inputKey() {
		st.from.unread = nil
	}
}

// restated returns the messages that the client should have.
func (st *aguiStream) restated(h *aguiHistory) []agui.Message {
	var last *agui.Message
	if st.from.unread != nil {
		last = st.from.unread.shown
	}
	return h.restated(st.in.Messages, last)
}

// show puts an event of the session.
func (st *aguiStream) show(out *response, ev agent.Event) error {
	meta := ev.Envelope()
	if meta.Session() != st.grant.session.ID() {
		return nil
	}
	st.read(ev)
	if _, again := ev.(*agent.Reset); again {
		// the client drops what it has of a reply that broke off, because it would add the next one
		// to that; it keeps reasoning, so that is emptied
		if err := st.snapshot(out, st.to.thought...); err != nil {
			return err
		}
	}
	var refused *agui.GrammarError
	if err := st.to.event(ev); err != nil && !errors.As(err, &refused) {
		return err
	}
	st.seen = max(st.seen, meta.Seq)
	if st.corrects(ev) {
		if err := st.snapshot(out); err != nil {
			return err
		}
	}
	if st.to.ending == nil || st.seen < st.facts {
		return nil
	}
	return st.conclude(out)
}

// corrects reports whether an event makes something else of what the client has: a person has
// changed the input of a call, or the result of a call isn't what the client said.
func (st *aguiStream) corrects(ev agent.Event) bool {
	switch f := ev.(type) {
	case *machine.Decided:
		return f.Decision.Kind == machine.Edited
	case *agent.ToolFinished:
		if f.Result == nil {
			return false
		}
		m := st.to.results[f.Result.CallID]
		return m != nil && m.Content.Text != resultText(f.Result)
	}
	return false
}

// conclude ends the stream when the run has ended or paused, with errEnough. If it has ended
// without the message that it was sent, another one begins with that.
func (st *aguiStream) conclude(out *response) error {
	if u := st.from.unread; u != nil {
		st.from.unread = nil
		p := st.start(st.r, st.grant, u.message)
		if p == nil || p.Code == codeRepeated || p.Code == codeBusy { // or the hub has started it
			st.to.ending = nil
			return nil
		}
		_ = st.events.Write(agui.RunError{Message: p.sentence(), Code: p.Code})
		return errEnough
	}
	pending, err := st.grant.session.Pending(out.ctx)
	if err != nil {
		return err
	}
	facts, err := st.grant.session.Facts(out.ctx)
	if err != nil {
		return err
	}
	if err := st.to.finish(pending, st.restated(historyOf(facts, st.in.Messages))); err != nil {
		return err
	}
	return errEnough
}

// snapshot puts the messages until now, and emptied ones with the ids of reasoning.
func (st *aguiStream) snapshot(out *response, emptied ...string) error {
	facts, err := st.grant.session.Facts(out.ctx)
	if err != nil {
		return err
	}
	messages := st.restated(historyOf(until(facts, st.seen), st.in.Messages))
	for _, id := range emptied {
		messages = append(messages, agui.Message{ID: id, Role: agui.RoleReasoning})
	}
	return st.events.Write(agui.MessagesSnapshot{Messages: messages})
}

// until returns the facts up to a number.
func until(facts []agent.Fact, number uint64) []agent.Fact {
	n := 0
	for n < len(facts) && facts[n].Envelope().Seq <= number {
		n++
	}
	return facts[:n]
}
