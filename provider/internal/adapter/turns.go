package adapter

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/pawlkit/pawl/provider"
)

// A Conversation says how the messages of a request become turns.
type Conversation struct {
	// Sends reports whether a part of message i is sent.
	Sends func(i int, p *provider.Part) bool
	// ID returns an id of a call in a form that the API accepts; nil: any is accepted.
	ID func(id string) string
	// Separate keeps messages of one role apart.
	Separate bool
}

// A Turn is what the user or the model said. Between two turns of the model there is one of the
// user, unless the turns are separate.
type Turn struct {
	Model bool
	Parts []*provider.Part // that are sent, without the results in Calls
	Calls []Call           // of the model, in order
}

// A Call is a call of the model with its result.
type Call struct {
	Part   *provider.Part
	ID     string         // as sent; unique in the conversation
	Result *provider.Part // nil: there is none
}

// Call returns the call in a part of the turn.
func (t *Turn) Call(p *provider.Part) *Call {
	return &t.Calls[slices.IndexFunc(t.Calls, func(c Call) bool { return c.Part == p })]
}

// Turns returns the messages as turns: parts that aren't sent are left out, as are turns without
// any, and each call has its result, if there is one before the next turn of the model. A user's
// turn with nothing but results has no parts.
func (c Conversation) Turns(messages []provider.Message) []Turn {
	var turns []Turn
	ids := map[string]bool{}
	for i := range messages {
		t := Turn{Model: messages[i].Role == provider.RoleAssistant}
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			if !c.Sends(i, p) {
				continue
			}
			t.Parts = append(t.Parts, p)
			if p.Kind == provider.PartToolCall {
				t.Calls = append(t.Calls, Call{Part: p, ID: c.unique(ids, p.Call)})
			}
		}
		switch n := len(turns); {
		case len(t.Parts) == 0:
		case n > 0 && turns[n-1].Model == t.Model && !c.Separate:
			turns[n-1].Parts = append(turns[n-1].Parts, t.Parts...)
			turns[n-1].Calls = append(turns[n-1].Calls, t.Calls...)
		default:
			turns = append(turns, t)
		}
	}
	for i := range turns {
		pair(turns[i].Calls, turns[i+1:])
	}
	return turns
}

// unique returns the id of a call: the provider's own if there is one, because results have no
// other reference.
func (c Conversation) unique(used map[string]bool, call *provider.ToolCall) string {
	id := cmp.Or(call.ProviderID, call.ID, "call")
	for n, next := 2, id; ; n++ {
		if c.ID != nil {
			next = c.ID(next)
		}
		if !used[next] {
			used[next] = true
			return next
		}
		next = id + "_" + strconv.Itoa(n)
	}
}

// pair moves the results of the calls from the turns of the user that follow: the first unused one
// with the call's id and name, else with its id.
func pair(calls []Call, later []Turn) {
	for _, named := range []bool{true, false} {
		for i := range calls {
			call := calls[i].Part.Call
			for k := 0; k < len(later) && !later[k].Model && calls[i].Result == nil; k++ {
				at := slices.IndexFunc(later[k].Parts, func(p *provider.Part) bool {
					return p.Kind == provider.PartToolResult && p.Result.CallID == call.ID &&
						(call.ID != "" && !named || p.Result.Name == call.Name)
				})
				if at >= 0 {
					calls[i].Result = later[k].Parts[at]
					later[k].Parts = slices.Delete(later[k].Parts, at, at+1)
				}
			}
		}
	}
}
