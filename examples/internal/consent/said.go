package consent

import (
	"context"
	"errors"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// Said returns a Config.Said for the sessions of an agent, which self returns. Of a conversation it
// has only what a policy reads: what the person wrote, the assistant's answers in words, and calls
// that the person rejected. It keeps that of the newest sessions, so that a call doesn't read its
// whole session again.
func Said(self func() *agent.Agent) func(ctx context.Context, session string) ([]provider.Message, error) {
	s := &hearing{self: self, sessions: map[string]*heard{}}
	return s.messages
}

type hearing struct {
	self     func() *agent.Agent
	mu       sync.Mutex // guards what follows
	sessions map[string]*heard
}

// maxHeard is of how many sessions the conversations are kept.
const maxHeard = 500

// A heard is what was read of a session so far.
type heard struct {
	mu       sync.Mutex // guards what follows
	seq      uint64     // of the newest fact
	all      []provider.Message
	inputs   map[uint64]int // the numbers of messages before the runs, by the numbers of their facts
	unusable bool           // it was pruned or taken back too far: it is read as a whole
}

func (s *hearing) messages(ctx context.Context, session string) ([]provider.Message, error) {
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
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Facts < h.seq { // it was deleted, and another has its name
		h.seq, h.all, h.inputs, h.unusable = 0, nil, map[uint64]int{}, false
	}
	for h.seq < info.Facts && !h.unusable {
		for ev, err := range of.Watch(ctx, h.seq) {
			if err != nil {
				return nil, err
			}
			if h.hear(ev); h.seq >= info.Facts || h.unusable {
				break
			}
		}
	}
	if h.unusable {
		return of.Messages(ctx)
	}
	return h.all[:len(h.all):len(h.all)], nil
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
