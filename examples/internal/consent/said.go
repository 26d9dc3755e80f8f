package consent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Listener knows what is said in the sessions of an agent. It is safe for concurrent use.
type Listener struct {
	self     func() *agent.Agent
	mu       sync.Mutex // guards what follows
	sessions map[string]*heard
	sent     map[string][]sent // into runs in progress, by session
	count    uint64            // of the messages that were sent
}

// A sent is a message that a run in progress may not have read yet.
type sent struct {
	text    string
	number  uint64    // of all messages
	created time.Time // when its session was
	seq     uint64    // a fact that says that it was read comes after that one
	late    bool      // a run has begun since it came
}

// Listen returns a listener for an agent, which self returns. The agent needs the listener's Hooks.
func Listen(self func() *agent.Agent) *Listener {
	return &Listener{self: self, sessions: map[string]*heard{}, sent: map[string][]sent{}}
}

// Hooks returns the hooks by which the listener knows of messages to runs in progress before these
// read them. Those that another process sends it knows only afterwards.
func (s *Listener) Hooks() agent.Hooks {
	return agent.Hooks{Name: "consent", BeforeInput: func(ctx context.Context, t *agent.IncomingText) error {
		if t.Source != agent.FromSteering {
			return nil
		}
		info, err := s.self().Session(t.Session).Info(ctx)
		if err != nil {
			return err
		}
		s.note(t.Session, sent{text: t.Text, created: info.Created, seq: info.Facts})
		return nil
	}}
}

// note keeps a message. Of too many sessions, it drops the one whose newest message is the oldest.
func (s *Listener) note(session string, m sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[session] == nil && len(s.sent) >= maxHeard {
		oldest, least := "", s.count
		for name, all := range s.sent {
			if n := all[len(all)-1].number; n <= least {
				oldest, least = name, n
			}
		}
		delete(s.sent, oldest)
	}
	s.count++
	m.number = s.count
	s.sent[session] = append(s.sent[session], m)
}

// unread returns the messages that the run in progress may not have read yet, of a session that was
// created at that time.
func (s *Listener) unread(session string, created time.Time) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.sent[session] {
		if m.created.Equal(created) {
			texts = append(texts, m.text)
		}
	}
	return texts
}

// read drops the messages that a fact says were read: the oldest one with the text of a Steered,
// all with the text that a run begins with, and those from before the run that came before that. A
// message may come as one run ends and another begins, so it is kept for one more.
func (s *Listener) read(session string, created time.Time, ev agent.Event) {
	text, begins := "", false
	switch f := ev.(type) {
	case *machine.Steered:
		text, _ = written(&f.Message)
	case *agent.RunStarted:
		if f.ContextReset != nil {
			return
		}
		text, _ = written(&f.Message)
		begins = true
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seq, found := ev.Envelope().Seq, false
	var left []sent
	for _, m := range s.sent[session] {
		if m.created.Equal(created) && m.seq < seq {
			same := m.text == text
			if begins && (same || m.late) || same && !found {
				found = true
				continue
			}
			m.seq, m.late = seq, m.late || begins
		}
		left = append(left, m)
	}
	if s.sent[session] = left; len(left) == 0 {
		delete(s.sent, session)
	}
}

// maxHeard is of how many sessions the conversations are kept.
const maxHeard = 500

// A heard is what was read of a session so far.
type heard struct {
	mu       sync.Mutex // guards what follows
	seq      uint64     // of the newest fact
	created  time.Time  // when the session was
	all      []provider.Message
	inputs   map[uint64]int // the numbers of messages before the runs, by the numbers of their facts
	unusable bool           // it was pruned or taken back too far: it is read as a whole
}

// Said is a Config.Said. Of a conversation it has only what a policy reads: what the person wrote,
// the assistant's answers in words, and calls that the person rejected. It keeps that of the newest
// sessions, so that a call doesn't read its whole session again.
func (s *Listener) Said(ctx context.Context, session string) (said []provider.Message, unread []string, err error) {
	s.mu.Lock()
	h := s.sessions[session]
	if h == nil {
		if len(s.sessions) >= maxHeard {
			clear(s.sessions)
		}
		h = &heard{inputs: map[uint64]int{}}
		s.sessions[session] = h
	}
	s.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	of := s.self().Session(session)
	info, err := of.Info(ctx)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Created.Equal(h.created) || info.Facts < h.seq { // it is new, or another has its name
		h.created, h.seq, h.all, h.inputs, h.unusable = info.Created, 0, nil, map[uint64]int{}, false
	}
	for h.seq < info.Facts {
		for ev, err := range of.Watch(ctx, h.seq) {
			if err != nil {
				return nil, nil, err
			}
			s.read(session, h.created, ev)
			if h.hear(ev); h.seq >= info.Facts {
				break
			}
		}
	}
	if h.unusable {
		said, err = of.Messages(ctx)
		return said, s.unread(session, h.created), err
	}
	return h.all[:len(h.all):len(h.all)], s.unread(session, h.created), nil
}

// hear adds what a fact says.
func (h *heard) hear(ev agent.Event) {
	if h.unusable {
		h.seq = ev.Envelope().Seq
		return
	}
	switch f := ev.(type) {
	case *machine.Snapshot:
		h.unusable = h.seq == 0
	case *agent.RunStarted:
		if f.ContextReset != nil {
			break
		}
		if f.Replaces != nil {
			n, known := h.inputs[f.Replaces.Start]
			h.all, h.unusable = h.all[:n:n], !known
		}
		h.add(f.History...)
		h.inputs[f.Seq] = len(h.all)
		if f.Call == nil {
			h.add(f.Message)
		}
	case *machine.Steered:
		h.add(f.Message)
	case *agent.Replied:
		h.add(f.Message)
	case *agent.ToolFinished:
		if isRefusal(&f.Result.ToolResult) {
			h.all = append(h.all, provider.Message{Role: provider.RoleTool,
				Parts: []provider.Part{{Kind: provider.PartToolResult, Result: &f.Result.ToolResult}}})
		}
	}
	h.seq = ev.Envelope().Seq
}

// add adds what messages say in words.
func (h *heard) add(messages ...provider.Message) {
	for i := range messages {
		m := &messages[i]
		if text, ok := written(m); ok {
			h.all = append(h.all, provider.User(text))
		} else if m.Role == provider.RoleAssistant && m.Text() != "" {
			h.all = append(h.all, provider.Assistant(m.Text()))
		}
	}
}
