package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A message is what a user sends, in whichever protocol.
type message struct {
	text      string
	files     []file
	mode      string
	key       string // of the client's choice: see agent.Input.Key
	version   string // tells inputs with the same key from each other; may be empty
	supersede bool
	replaces  uint64          // agent.Input.Replaces
	kept      []provider.Part // files of the message that it replaces, if it has none
}

// inputKey returns agent.Input.Key.
func (m *message) inputKey() string {
	if m.key == "" || m.version == "" {
		return shortKey(m.key)
	}
	return shortKey(m.key) + "." + m.version
}

// deliver starts a run with a message, or sends it to the run in progress, which reads it later. A
// message with files, or one that replaces an earlier one, can't be sent to a run in progress: the
// problem has the code "busy". A run counts towards the user's allowance from before it begins
// until it ends or pauses, and so does one that the hub starts later with the message.
func (s *server) deliver(r *http.Request, g *grant, m message) (live.Sent, *problem) {
	in, p := s.input(r, g, m)
	if p != nil {
		return live.Sent{}, p
	}
	var may func(context.Context) (func(), error) // nil: each run may start
	if s.cfg.Allowance != nil {
		may = func(ctx context.Context) (func(), error) { return s.cfg.Allowance.Take(ctx, g.user) }
	}
	sent, err := s.hub.SendIf(r.Context(), in, may)
	if err != nil {
		return live.Sent{}, failed(err)
	}
	return sent, nil
}

// start starts a run with a message. It doesn't send it to a run in progress.
func (s *server) start(r *http.Request, g *grant, m message) *problem {
	in, p := s.input(r, g, m)
	if p != nil {
		return p
	}
	release := func() {}
	if s.cfg.Allowance != nil {
		var err error
		if release, err = s.cfg.Allowance.Take(r.Context(), g.user); err != nil {
			return failed(err)
		}
	}
	started, err := s.hub.Start(r.Context(), in)
	if err != nil {
		release()
		return failed(err)
	}
	go func() {
		<-started.Done
		release()
	}()
	return nil
}

// input returns the input that a message makes.
func (s *server) input(r *http.Request, g *grant, m message) (in agent.Input, p *problem) {
	if p := checkText(m.text); p != nil {
		return in, p
	}
	parts, p := s.parts(m.files)
	if p != nil {
		return in, p
	}
	if len(parts) == 0 {
		parts = m.kept
	}
	if strings.TrimSpace(m.text) == "" && len(parts) == 0 {
		return in, malformed("the message is empty")
	}
	in = agent.Input{
		Session: g.session.ID(), Prompt: m.text, Parts: parts, Mode: m.mode, Key: m.inputKey(),
		Supersede:   m.supersede,
		Replaces:    m.replaces,
		Interactive: true, User: g.user, Owner: g.ownerOf(), Title: titleOf(m.text), Trace: r.Header.Get("Traceparent"),
	}
	if p := s.complete(r, &in); p != nil {
		return in, p
	}
	in.Session, in.Owner = g.session.ID(), g.ownerOf()
	return in, nil
}

// ownerOf returns the owner that the session must have when a run starts.
func (g *grant) ownerOf() string {
	if g.exists {
		return g.owner
	}
	return g.user
}

// checkText returns what is wrong with the text of a message.
func checkText(text string) *problem {
	switch {
	case len(text) > maxMessage:
		return fail(http.StatusRequestEntityTooLarge, codeTooLarge, fault.Invalid,
			"the message has %d bytes; at most %d are accepted", len(text), maxMessage)
	case !utf8.ValidString(text):
		return malformed("the message isn't valid UTF-8")
	}
	return nil
}

// complete lets the host complete an input. A panic refuses it.
func (s *server) complete(r *http.Request, in *agent.Input) *problem {
	if s.cfg.Input == nil {
		return nil
	}
	err := host("Config.Input", func() error { return s.cfg.Input(r, in) })
	if errors.Is(err, errPanic) {
		return internal(err)
	}
	if p := notNow(err); p != nil {
		return p
	}
	if err != nil {
		s.log.InfoContext(r.Context(), "serve: Config.Input refused an input", "session", in.Session, "error", err)
		return fail(http.StatusForbidden, codeForbidden, fault.Denied, "the input isn't accepted")
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
	// Replaces is the number of the fact that started an earlier run: see agent.Input.Replaces. The
	// message isn't sent to a run in progress then. Without a text, it has that of the message that
	// it replaces, and without files, its files.
	Replaces uint64 `json:"replaces"`
}

// keepReplaced gives a message without a text that of the message that it replaces, and one without
// files its files. run is the run that the same message has started before: while that is in
// progress, another start would say only that the session is busy.
func keepReplaced(ctx context.Context, g *grant, m *message) (run string, p *problem) {
	facts, err := g.session.Facts(ctx)
	if err != nil {
		return "", failed(err)
	}
	for _, f := range facts {
		f, ok := f.(*agent.RunStarted)
		switch {
		case !ok:
			continue
		case m.key != "" && f.Key == m.inputKey():
			return f.Run(), nil
		case f.Seq != m.replaces:
			continue
		}
		m.text = cmp.Or(m.text, f.Message.Text())
		for _, part := range f.Message.Parts {
			if part.Media != nil {
				m.kept = append(m.kept, part)
			}
		}
	}
	return "", nil
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
	m := message{text: body.Text, files: body.Files, mode: body.Mode, key: body.Key, supersede: body.Supersede,
		replaces: body.Replaces}
	out := sent{Session: body.Session}
	if m.replaces > 0 {
		run, p := keepReplaced(r.Context(), g, &m)
		switch {
		case p != nil:
			return p
		case run != "":
			out.Run, out.Repeated = run, true
			answer(w, http.StatusAccepted, out)
			return nil
		}
	}
	delivered, p := s.deliver(r, g, m)
	switch {
	case p == nil:
		out.Run, out.After, out.Steered = delivered.Run, delivered.After, delivered.Steered
	case p.Code == codeRepeated:
		out.Run, out.Repeated = p.Run, true
	default:
		return p
	}
	answer(w, http.StatusAccepted, out)
	return nil
}
