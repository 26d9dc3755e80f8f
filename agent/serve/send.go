package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A message is what a user sends, in whichever protocol.
type message struct {
	text      string
	files     []file
	mode      string
	key       string // of the client's choice: see agent.Input.Key
	supersede bool
}

// start starts a run with a message.
func (s *server) start(r *http.Request, g *grant, m message) (live.Started, *problem) {
	if p := s.checkText(m.text); p != nil {
		return live.Started{}, p
	}
	parts, p := s.parts(m.files)
	if p != nil {
		return live.Started{}, p
	}
	if strings.TrimSpace(m.text) == "" && len(parts) == 0 {
		return live.Started{}, malformed("the message is empty")
	}
	in := agent.Input{
		Session: g.session.ID(), Prompt: m.text, Parts: parts, Mode: m.mode, Key: shortKey(m.key),
		Supersede:   m.supersede,
		Interactive: true, User: g.user, Owner: g.ownerOf(), Title: titleOf(m.text), Trace: r.Header.Get("Traceparent"),
	}
	if p := s.complete(r, &in); p != nil {
		return live.Started{}, p
	}
	in.Session, in.Owner = g.session.ID(), g.ownerOf()
	release, err := s.take(r.Context(), g)
	if err != nil {
		return live.Started{}, failed(err)
	}
	started, err := s.begin(r.Context(), in)
	if err != nil {
		release()
		if !g.exists { // somebody else may have begun it meanwhile
			again, p := s.allow(r, g.session.ID(), ActionSend)
			if p != nil {
				return live.Started{}, p
			}
			*g = *again
		}
		return live.Started{}, failed(err)
	}
	if s.cfg.Allowance != nil {
		go func() {
			<-started.Done
			release()
		}()
	}
	return started, nil
}

const (
	// A run that has ended or paused holds its session a little longer. So long a new one waits for
	// that at most, and it looks at these intervals.
	maxHandover  = 2 * time.Second
	pollHandover = 5 * time.Millisecond
)

// begin starts or resumes a run. A run that has just ended, but still holds the session, is waited
// for.
func (s *server) begin(ctx context.Context, in agent.Input) (live.Started, error) {
	for until := time.Now().Add(maxHandover); ; {
		started, err := s.hub.Start(ctx, in)
		if !errors.Is(err, agent.ErrBusy) || time.Now().After(until) {
			return started, err
		}
		if info, failed := s.agent.Session(in.Session).Info(ctx); failed != nil || info.Status == agent.Running {
			return started, err
		}
		select {
		case <-ctx.Done():
			return started, err
		case <-time.After(pollHandover):
		}
	}
}

// take takes a run from a user's allowance. While a run of the session is in progress, nothing can
// start, so that a message that is repeated, or that steers the run, takes nothing.
func (s *server) take(ctx context.Context, g *grant) (release func(), err error) {
	if s.cfg.Allowance == nil || g.running {
		return func() {}, nil
	}
	return s.cfg.Allowance.Take(ctx, g.user)
}

// ownerOf returns the owner that the session must have when a run starts.
func (g *grant) ownerOf() string {
	if g.exists {
		return g.owner
	}
	return g.user
}

// checkText returns what is wrong with the text of a message.
func (s *server) checkText(text string) *problem {
	switch {
	case len(text) > s.cfg.MaxMessage:
		return fail(http.StatusRequestEntityTooLarge, CodeTooLarge, fault.Invalid,
			"the message has %d bytes; at most %d are accepted", len(text), s.cfg.MaxMessage)
	case !utf8.ValidString(text):
		return malformed("the message isn't valid UTF-8")
	}
	return nil
}

// complete lets the host complete an input. A panic refuses it.
func (s *server) complete(r *http.Request, in *agent.Input) (p *problem) {
	if s.cfg.Input == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			p = internal(fmt.Errorf("serve: Config.Input panicked: %v", v))
		}
	}()
	if err := s.cfg.Input(r, in); err != nil {
		s.log.InfoContext(r.Context(), "serve: Config.Input refused an input", "session", in.Session, "error", err)
		return fail(http.StatusForbidden, CodeForbidden, fault.Denied, "the input isn't accepted")
	}
	return nil
}

// maxTitle is how many characters of its first message a session's title has at most.
const maxTitle = 60

// titleOf returns the beginning of a message, as the title of the session that it begins.
func titleOf(text string) string {
	title := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
	if n := []rune(title); len(n) > maxTitle {
		title = strings.TrimSpace(string(n[:maxTitle])) + "…"
	}
	return title
}

// shortKey returns a client's key as a session can keep it.
func shortKey(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return "k-" + hex.EncodeToString(sum[:16])
}

// A sendBody is the body of POST sessions/send.
type sendBody struct {
	Session   string `json:"session"`
	Text      string `json:"text"`
	Files     []file `json:"files"`
	Mode      string `json:"mode"`
	Key       string `json:"key"`
	Supersede bool   `json:"supersede"`
}

// A sent is the answer to it.
type sent struct {
	Session string `json:"session"`
	Run     string `json:"run,omitempty"`
	After   uint64 `json:"after,omitempty"`
	// Steered says that the message went to the run in progress.
	Steered bool `json:"steered,omitempty"`
	// Repeated says that the session had a message with this key before, and that nothing was
	// started.
	Repeated bool `json:"repeated,omitempty"`
}

// send starts a run, or steers the one in progress.
func (s *server) send(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body sendBody
	if p := s.decode(w, r, &body); p != nil {
		return p
	}
	g, p := s.allow(r, body.Session, ActionSend)
	if p != nil {
		return p
	}
	m := message{body.Text, body.Files, body.Mode, body.Key, body.Supersede}
	out := sent{Session: body.Session}
	started, p := s.start(r, g, m)
	if p != nil && p.Code == CodeBusy && len(m.files) == 0 && g.exists {
		var delivered bool
		if delivered, p = s.steer(r, g, m); delivered {
			out.Steered = true
			answer(w, http.StatusAccepted, out)
			return nil
		}
		if p == nil { // the run was complete before it could read the message
			g.running = false
			started, p = s.start(r, g, m)
		}
	}
	switch {
	case p == nil:
		out.Run, out.After = started.Run, started.After
	case p.Code == CodeRepeated:
		out.Run, out.Repeated = p.Run, true
	default:
		return p
	}
	answer(w, http.StatusAccepted, out)
	return nil
}

// steer sends a message to the run in progress, and waits until the run has read it. It returns
// false if the run was complete before that.
func (s *server) steer(r *http.Request, g *grant, m message) (delivered bool, p *problem) {
	if p := s.checkText(m.text); p != nil {
		return false, p
	}
	receipt, err := g.session.Steer(r.Context(), m.text, shortKey(m.key))
	if errors.Is(err, agent.ErrNothingOpen) {
		return false, nil
	}
	if err != nil {
		return false, failed(err)
	}
	if _, err = receipt.Wait(r.Context()); err == nil {
		return true, nil
	}
	if r.Context().Err() != nil {
		return false, unavailable(err)
	}
	info, err := g.session.Info(r.Context())
	switch {
	case err != nil:
		return false, failed(err)
	case info.Status == agent.Completed:
		return false, nil
	}
	return false, fail(http.StatusConflict, CodeIdle, fault.Invalid,
		"the run was stopped or paused before it could read the message")
}
