package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/agui"
)

// An aguiTurn is what a session did with one input: a run, or a chain of runs of which each
// continues the one before.
type aguiTurn struct {
	start  uint64     // the number of the fact that started it
	runs   []string   // their names
	inputs []aguiUser // the input, and the messages that steered it
}

// An aguiUser is a user's message.
type aguiUser struct {
	id      string // after a reload
	key     string // begins with the shortKey of the id that the client gave it, if a client of AG-UI did
	message *provider.Message
}

// inputOf returns a fact as a user's message, if it is one.
func inputOf(f agent.Fact) (u aguiUser, ok bool) {
	switch f := f.(type) {
	case *agent.RunStarted:
		return aguiUser{id: "u-" + f.Run(), key: f.Key, message: &f.Message},
			f.ContextReset == nil && f.Call == nil
	case *machine.Steered:
		return aguiUser{id: fmt.Sprintf("u-%s.%d", f.Run(), f.Seq), key: f.Key, message: &f.Message}, true
	}
	return aguiUser{}, false
}

// is reports whether a client has the message under an id.
func (u *aguiUser) is(id string) bool {
	key, _, _ := strings.Cut(u.key, ".")
	return id != "" && (id == u.id || shortKey(id) == key)
}

// aguiTurns returns the turns of a session, without those that were replaced.
func aguiTurns(facts []agent.Fact) (turns []aguiTurn) {
	_, rest := current(facts)
	for _, f := range rest {
		if start, ok := f.(*agent.RunStarted); ok {
			if start.ContextReset == nil || len(turns) == 0 {
				turns = append(turns, aguiTurn{start: start.Seq})
			}
			t := &turns[len(turns)-1]
			t.runs = append(t.runs, start.Run())
		}
		if u, ok := inputOf(f); ok && len(turns) > 0 {
			t := &turns[len(turns)-1]
			t.inputs = append(t.inputs, u)
		}
	}
	return turns
}

// has reports whether a client's message is of the turn.
func (t *aguiTurn) has(m *agui.Message) bool {
	id := m.ID
	switch m.Role {
	case agui.RoleUser:
		return slices.ContainsFunc(t.inputs, func(u aguiUser) bool { return u.is(id) })
	case agui.RoleTool:
		id = m.ToolCallID
	}
	return slices.ContainsFunc(t.runs, func(run string) bool { return strings.HasPrefix(id, run+".") })
}

// followed returns the index of the turn of the message that the last one of a client follows, and
// -1 if that is the first. A message that follows one that the session doesn't have, or hasn't any
// more, follows what there is.
func followed(turns []aguiTurn, client []agui.Message) int {
	for i := len(client) - 2; i >= 0; i-- {
		switch client[i].Role {
		case agui.RoleUser, agui.RoleAssistant, agui.RoleReasoning, agui.RoleTool:
		default:
			continue
		}
		for n := len(turns) - 1; n >= 0; n-- {
			if turns[n].has(&client[i]) {
				return n
			}
		}
		return len(turns) - 1
	}
	return -1
}

// lacks reports whether a client lacks a user's message of one of the turns.
func lacks(client []agui.Message, turns []aguiTurn) bool {
	for i := range turns {
		for j := range turns[i].inputs {
			u := &turns[i].inputs[j]
			has := func(m agui.Message) bool { return m.Role == agui.RoleUser && u.is(m.ID) }
			if !slices.ContainsFunc(client, has) {
				return true
			}
		}
	}
	return false
}
