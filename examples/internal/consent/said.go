package consent

import (
	"context"
	"errors"
	"slices"
	"sync"

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
}

// A sent is a message that a run in progress may not have read yet.
type sent struct {
	text string
	seq  uint64 // of the newest fact when it came
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
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.sent) >= maxHeard {
			clear(s.sent)
		}
		s.sent[t.Session] = append(s.sent[t.Session], sent{t.Text, info.Facts})
		return nil
	}}
}

// unread returns the messages that the run in progress may not have read yet. taken is the number
// of the newest fact with a message of the person.
func (s *Listener) unread(session string, taken uint64) (texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(s.sent[session], func(m sent) bool { return m.seq < taken })
	if s.sent[session] = left; len(left) == 0 {
		delete(s.sent, session)
	}
	for _, m := range left {
		texts = append(texts, m.text)
	}
	return texts
}

// maxHeard is of how many sessions the conversations are kept.
const maxHeard = 500

// A heard is what was read of a session so far.
type heard struct {
	mu       sync.Mutex // guards what follows
	seq      uint64     // of the newest fact
	taken    uint64     // of the newest one with a message of the person
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
	if info.Facts < h.seq { // it was deleted, and another has its name
		h.seq, h.taken, h.all, h.inputs, h.unusable = 0, 0, nil, map[uint64]int{}, false
	}
	for h.seq < info.Facts && !h.unusable {
		for ev, err := range of.Watch(ctx, h.seq) {
			if err != nil {
				return nil, nil, err
			}
			if h.hear(ev); h.seq >= info.Facts || h.unusable {
				break
			}
		}
	}
	if h.unusable {
		said, err = of.Messages(ctx)
		return said, s.unread(session, h.taken), err
	}
	return h.all[:len(h.all):len(h.all)], s.unread(session, h.taken), nil
}

// hear adds what a fact says.
func (h *heard) hear(ev agent.Event) {
	switch f := ev.(type) {
	case *machine.Snapshot:
		h.unusable = h.unusable || h.seq == 0
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
		if h.taken = f.Seq; f.Call == nil {
			h.add(f.Message)
		}
	case *machine.Steered:
		h.taken = f.Seq
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
