package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/stream/sse"
)

// addPage adds the page and what it needs. The files of the page are the same for everybody, so
// nobody has to be authorized for them.
func (s *server) addPage(add adder) {
	add(http.MethodGet, "/config", s.pageConfig)
	add(http.MethodGet, "/view", s.view)
	add(http.MethodGet, "/view/older", s.older)
	s.files = page.Assets()
}

// A pageConfig is what the page needs to know of this server.
type pageConfig struct {
	Title    string     `json:"title"`
	User     string     `json:"user"`
	Modes    []pageMode `json:"modes"`
	Examples []string   `json:"examples"`
	Limits   pageLimits `json:"limits"`
}

type pageMode struct {
	Name string `json:"name"`
}

// pageLimits are the limits of a message.
type pageLimits struct {
	Message int   `json:"message"`    // bytes of its text
	Files   int   `json:"files"`      // how many
	Bytes   int64 `json:"file_bytes"` // of all of them
}

func (s *server) pageConfig(w http.ResponseWriter, r *http.Request, _ string) *problem {
	user, p := s.identify(r, "", ActionList)
	if p != nil {
		return p
	}
	out := pageConfig{
		Title: s.cfg.Title, User: user, Modes: []pageMode{}, Examples: append([]string{}, s.cfg.Examples...),
		// In a body, 3 bytes of a file are 4 characters, and the rest of the message needs some,
		// too.
		Limits: pageLimits{maxMessage, max(s.cfg.MaxFiles, 0),
			max(s.cfg.MaxBody-2*maxMessage-4096, 0) / 4 * 3},
	}
	for _, name := range s.agent.Modes() {
		if name != "" {
			out.Modes = append(out.Modes, pageMode{name})
		}
	}
	answer(w, http.StatusOK, out)
	return nil
}

// pageItems is how many items a page gets at first, and how many older ones at a time.
const pageItems = 200

// view streams what the page shows of a session: at first its newest items. Each event is an array
// of patches, and its id is the number of the newest fact in it.
func (s *server) view(w http.ResponseWriter, r *http.Request, _ string) *problem {
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
		if err := out.Comment("hello"); err != nil { // the page knows that it is connected, even if nothing happens
			return internal(err)
		}
		v := &viewWriter{out: out, session: g.session.ID(), view: s.newView(g)}
		defer v.stop()
		if after == 0 {
			var err error
			if after, err = v.newest(g); err != nil {
				out.hint()
				return failed(err)
			}
		}
		p := s.watch(out, g, after, v.event)
		v.flush()
		return p
	})
}

func (s *server) newView(g *grant) *page.View {
	cfg := page.ViewConfig{Session: g.session.ID(), Tool: s.tool}
	if s.cfg.Preview != nil {
		cfg.Preview = func(p *agent.Pause) (shown page.Preview) {
			s.logPanic(host("Config.Preview", func() error { // a panic shows nothing
				shown = s.cfg.Preview(g.session.ID(), p)
				return nil
			}))
			return shown
		}
	}
	return page.NewView(cfg)
}

// older answers with the items before those that the page has.
func (s *server) older(w http.ResponseWriter, r *http.Request, _ string) *problem {
	g, q, p := s.named(r, ActionRead, "before")
	if p != nil {
		return p
	}
	before, err := strconv.ParseUint(q["before"], 10, 64)
	if err != nil {
		return malformed(`"before" has to be the number of a fact: "older" of what the page has`)
	}
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	patches, from := s.newView(g).Older(past(facts), before, pageItems)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = encode(w, struct {
		Patches []page.Patch `json:"patches"`
		Older   uint64       `json:"older"` // 0: there is nothing before them
	}{append([]page.Patch{}, patches...), from}) // the client may have disconnected
	return nil
}

// past returns what a page shows of these facts. Undos of runs that were replaced aren't shown:
// what they are about isn't either.
func past(facts []agent.Fact) page.Past {
	before, shown := display.Current(facts)
	for _, f := range facts {
		if f, ok := f.(*agent.RunStarted); ok && f.Replaces != nil {
			shown = slices.DeleteFunc(shown, func(old agent.Fact) bool {
				seq := old.Envelope().Seq
				return seq >= f.Replaces.Start && seq < f.Seq
			})
		}
	}
	return page.Past{Before: before, Facts: shown}
}

// encode writes JSON with HTML in it as it is.
func encode(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // it is data, and full of HTML
	return enc.Encode(value)
}

// tool returns what approvals show of one of the agent's own tools.
func (s *server) tool(name string) page.Tool {
	d, ok := s.agent.Tools().Lookup(name)
	if !ok {
		return page.Tool{}
	}
	return page.Tool{Description: d.Spec().Description, Schema: d.Tool().Schema, Undo: d.CanUndo(),
		UndoFailed: d.Spec().UndoFailed}
}

const (
	viewEvery = 60 * time.Millisecond // between two events
	viewMost  = 256                   // patches that wait for the next event
)

// A viewWriter collects patches, so that a stream has at most one event in viewEvery, and the first
// one at once.
type viewWriter struct {
	out     *response
	session string

	mu    sync.Mutex // guards what follows
	view  *page.View
	due   []page.Patch
	fact  uint64 // the newest one in due
	last  time.Time
	timer *time.Timer // set while something is due
	over  bool
	err   error
}

// newest writes the newest items, and returns the number of the newest fact.
func (v *viewWriter) newest(g *grant) (after uint64, err error) {
	facts, err := g.session.Facts(v.out.ctx)
	if err != nil || len(facts) == 0 {
		return 0, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	patches, from := v.view.Newest(past(facts), pageItems)
	state := &page.State{Older: from}
	for _, f := range facts { // also of runs that were replaced
		if f, ok := f.(*machine.TitleChanged); ok {
			state.Title = &f.Title
		}
	}
	after = facts[len(facts)-1].Envelope().Seq
	v.due, v.fact = append(patches, page.Patch{State: state}), after
	v.write()
	return after, v.err
}

// event takes an event. The error is that of an earlier write.
func (v *viewWriter) event(ev agent.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.due = append(v.due, v.view.Event(ev)...)
	if _, fact := ev.(agent.Fact); fact && ev.Envelope().Session() == v.session {
		v.fact = ev.Envelope().Seq
	}
	wait := viewEvery - time.Since(v.last)
	switch {
	case wait <= 0 && v.timer == nil, len(v.due) > viewMost:
		v.write()
	case v.timer == nil:
		v.timer = time.AfterFunc(wait, v.flush)
	}
	return v.err
}

// flush writes what is due.
func (v *viewWriter) flush() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer = nil
	v.write()
}

// write writes what is due. It must be called with mu held.
func (v *viewWriter) write() {
	patches := append(v.due, v.view.Flush()...)
	if v.over || v.err != nil || len(patches) == 0 && v.fact == 0 {
		return
	}
	event := sse.Event{}
	if v.fact > 0 {
		event.ID = strconv.FormatUint(v.fact, 10)
	}
	if len(patches) > 0 {
		var data bytes.Buffer
		if v.err = encode(&data, patches); v.err != nil {
			return
		}
		event.Data = bytes.TrimSuffix(data.Bytes(), []byte("\n"))
	}
	v.due, v.fact, v.last = nil, 0, time.Now()
	v.err = v.out.Write(event)
}

// stop ends writing: the response may be over.
func (v *viewWriter) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	if v.timer != nil {
		v.timer.Stop()
	}
}
