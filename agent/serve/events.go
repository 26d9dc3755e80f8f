package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/stream/sse"
)

func (s *server) addEvents(add adder) { add(http.MethodGet, "/events", s.events) }

// events streams the events of a session: the facts after a number, the text so far of the model
// call in progress, and what follows. The id of an event is the number of its fact; notes have
// none.
func (s *server) events(w http.ResponseWriter, r *http.Request, _ string) *problem {
	g, q, p := s.named(r, ActionRead, "after")
	if p != nil {
		return p
	}
	after, p := g.eventID(r, q["after"])
	if p != nil {
		return p
	}
	leave, p := s.readers.enter(g.user)
	if p != nil {
		return p
	}
	defer leave()
	if s.forward(w, r, g, (*response).hint) {
		return nil
	}
	return s.respond(w, r, func(out *response) *problem {
		out.hints = true
		if err := out.Comment("hello"); err != nil { // the client knows that it is connected, even if nothing happens
			return internal(err)
		}
		return s.watch(out, g, after, func(ev agent.Event) error {
			data, err := agent.MarshalEvent(publicEvent(ev))
			if err != nil {
				return err
			}
			event := sse.Event{Data: data}
			if meta := ev.Envelope(); meta.Seq > 0 && meta.Session() == g.session.ID() {
				event.ID = strconv.FormatUint(meta.Seq, 10)
			}
			return out.Write(event)
		})
	})
}

// errEnough ends a watch.
var errEnough = errors.New("enough")

// watch calls show with the events of a session until the client disconnects or the server goes
// away, of which the client is told if it understands that. It ends without an error if show
// returns errEnough.
func (s *server) watch(out *response, g *grant, after uint64, show func(agent.Event) error) *problem {
	stop := out.Heartbeat(heartbeat)
	defer stop()
	run, left := "", s.readers.join(g.session.ID())
	gone := false // the client has disconnected
	defer func() {
		if !gone || out.hints { // pages have buttons to stop, and don't read while nobody sees them
			run = ""
		}
		left(run)
	}()
	for ev, err := range s.hub.Watch(out.ctx, g.session.ID(), after) {
		switch {
		case err == nil:
			if meta := ev.Envelope(); meta.Session() == g.session.ID() {
				run = meta.Run()
			}
			err = show(ev)
			if errors.Is(err, errEnough) {
				return nil
			}
			if err != nil { // the client is gone, or too slow
				gone = true
				return internal(err)
			}
			if !g.unreachable && s.isElsewhere(out.ctx, g, ev) { // who connects again gets its text
				out.away = true
				out.hint()
				return unavailable(nil)
			}
		case errors.Is(err, agent.ErrNothingOpen): // it was deleted, or has fewer facts
			return unknown()
		case errors.Is(context.Cause(out.ctx), errClosing), errors.Is(err, live.ErrClosed):
			out.away = true
			out.hint()
			return unavailable(nil)
		case out.ctx.Err() != nil:
			gone = true
			return nil
		default:
			s.log.WarnContext(out.ctx, "serve: a stream has ended", "session", g.session.ID(), "error", err)
			out.hint()
			return unavailable(err)
		}
	}
	return nil
}
