package memory

import (
	"github.com/pawlkit/pawl/provider"
)

// A Kind says what a [Group] is.
type Kind string

// The kinds of groups.
const (
	KindUser  Kind = "user"  // a message of the user
	KindReply Kind = "reply" // a reply of the model, with the results of its calls
	KindTold  Kind = "told"  // what an agent told its model in the user's role: see [HostMessage]
	KindNote  Kind = "note"  // what took the place of groups: a summary, a subgoal, a gap
)

// A Group is what is kept or left out together: a message of the user, or a reply with the results
// of all its calls.
type Group struct {
	// Messages are those of the conversation, in order. They are shared: not to be changed.
	Messages []provider.Message
	Kind     Kind
	Tokens   int
	// Pinned says why the group must stay as it is; empty if it may go.
	Pinned Pin

	tokens []int // of each message
	note   string
	goal   bool // what the present work began with
}

// A Pin is a reason for which a group stays.
type Pin string

// The pins.
const (
	PinGoal    Pin = "goal"         // the first message of the user, and the one that Context.Goal names
	PinNewest  Pin = "newest"       // the newest message of the user
	PinOpen    Pin = "open step"    // the step under way: the model hasn't seen these results, or calls have none yet
	PinSubgoal Pin = "open subgoal" // the beginning of a subgoal that isn't finished
	PinRecent  Pin = "recent"       // among the last groups
)

// hard reports a pin that holds even where the window doesn't suffice.
func (p Pin) hard() bool { return p != "" && p != PinRecent }

// Text returns the texts of a group, one a line: what was said, the calls with their arguments, and
// the results. Of a longer text the first limit bytes or a little less; 0: all.
func (g *Group) Text(limit int) string {
	var w textWriter
	w.limit = limit
	for i := range g.Messages {
		w.parts(g.Messages[i].Parts, maxNesting)
	}
	return w.String()
}

// Note returns what a note is: "summary", "subgoal", "offload" or "gap"; empty for other groups.
func (g *Group) Note() string { return g.note }

// groupsOf splits a conversation into groups. Tool messages belong to the reply before them, as
// does a reply that goes on where the provider had paused.
func groupsOf(messages []provider.Message, cost func(i int) int) []Group {
	groups := make([]Group, 0, len(messages)*2/3+1)
	tokens := make([]int, len(messages))
	begin, open := 0, 0 // open: calls of the provider's own in the group that have no result yet
	flush := func(end int) {
		if end == begin {
			return
		}
		g := Group{Messages: messages[begin:end:end], Kind: KindReply, tokens: tokens[begin:end:end]}
		if g.note = noteOf(&messages[begin]); g.note != "" {
			g.Kind = KindNote
		} else if IsHostMessage(&messages[begin]) {
			g.Kind = KindTold
		} else if messages[begin].Role == provider.RoleUser {
			g.Kind = KindUser
		}
		for _, n := range g.tokens {
			g.Tokens = plus(g.Tokens, n)
		}
		groups = append(groups, g)
		begin, open = end, 0
	}
	for i := range messages {
		tokens[i] = cost(i)
		switch m := &messages[i]; {
		case m.Role == provider.RoleTool: // with what is before it
		case i > begin && m.Role == provider.RoleAssistant && messages[i-1].Role == provider.RoleAssistant && open > 0:
		default:
			flush(i)
		}
		open = max(open+pausedCalls(&messages[i]), 0)
	}
	flush(len(messages))
	return groups
}

// pausedCalls returns how many more calls of the provider's own a message has than results of such.
func pausedCalls(m *provider.Message) int {
	open := 0
	for i := range m.Parts {
		switch m.Parts[i].Kind {
		case provider.PartProviderCall:
			open++
		case provider.PartProviderResult:
			open--
		}
	}
	return open
}

// pin says which groups must stay; keep is how many of the last ones are PinRecent.
func pin(groups []Group, keep int) {
	for i := max(len(groups)-keep, 0); i < len(groups); i++ {
		groups[i].Pinned = PinRecent
	}
	newest := true
	for i := len(groups) - 1; i >= 0; i-- {
		if groups[i].Kind == KindUser && newest {
			groups[i].Pinned, newest = PinNewest, false
		}
	}
	first := true
	for i := range groups {
		if groups[i].Kind == KindUser && (first || groups[i].goal) {
			groups[i].Pinned, first = PinGoal, false
		}
	}
	open := true // until the newest reply
	for i := len(groups) - 1; i >= 0; i-- {
		g := &groups[i]
		if g.Kind == KindTold && open && g.Pinned != PinGoal {
			g.Pinned = PinOpen // the model hasn't been asked since
		}
		if g.Kind != KindReply {
			continue
		}
		calls, results := pairs(g)
		if calls > results || open && calls > 0 {
			g.Pinned = PinOpen
		}
		open = false
	}
}

// pairs counts the calls and the results of a group.
func pairs(g *Group) (calls, results int) {
	for i := range g.Messages {
		for j := range g.Messages[i].Parts {
			switch g.Messages[i].Parts[j].Kind {
			case provider.PartToolCall:
				calls++
			case provider.PartToolResult:
				results++
			}
		}
	}
	return calls, results
}

// flatten returns the conversation of groups in a slice of its own.
func flatten(groups []Group) []provider.Message {
	out := make([]provider.Message, 0, count(groups))
	for i := range groups {
		out = append(out, groups[i].Messages...)
	}
	return out
}

func tokensOf(groups []Group) int {
	n := 0
	for i := range groups {
		n = plus(n, groups[i].Tokens)
	}
	return n
}
