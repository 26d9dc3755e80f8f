package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
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

// aguiTurns returns the turns of a session, without those that were replaced. pruned says that of
// the first ones only messages are left.
func aguiTurns(facts []agent.Fact) (turns []aguiTurn, pruned bool) {
	before, rest := display.Current(facts)
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
	return turns, len(before) > 0
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

// An aguiPlace is where the last message of a client belongs in a session.
type aguiPlace struct {
	after  int  // the index of the turn that it follows; -1: it comes before the first one
	begins bool // it is the client's first message
	// stale says that the message before it isn't in the session, or isn't any more. It follows
	// what there is then.
	stale bool
}

func placeIn(turns []aguiTurn, client []agui.Message) aguiPlace {
	for i := len(client) - 2; i >= 0; i-- {
		m := &client[i]
		if m.Role == agui.RoleSystem || m.Role == agui.RoleDeveloper || m.Role == agui.RoleActivity {
			continue
		}
		if strings.HasPrefix(m.ID, prunedPrefix+"-") {
			return aguiPlace{after: -1}
		}
		for n := len(turns) - 1; n >= 0; n-- {
			switch t := &turns[n]; {
			case t.has(m):
				return aguiPlace{after: n}
			case strings.HasPrefix(m.ID, t.runs[0]+historySuffix+"-"):
				return aguiPlace{after: n - 1}
			}
		}
		return aguiPlace{after: len(turns) - 1, stale: true}
	}
	return aguiPlace{after: -1, begins: true}
}

// lacks reports whether a client lacks a user's message of one of the turns, as it is now.
func lacks(client []agui.Message, turns []aguiTurn) bool {
	for i := range turns {
		for j := range turns[i].inputs {
			u := &turns[i].inputs[j]
			has := func(m agui.Message) bool {
				return m.Role == agui.RoleUser && u.is(m.ID) &&
					(m.Content.Parts != nil || m.Content.Text == u.message.Text())
			}
			if !slices.ContainsFunc(client, has) {
				return true
			}
		}
	}
	return false
}
