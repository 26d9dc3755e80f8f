package memory

import (
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A Window is what a model can hold, input and output together.
type Window struct {
	Size    int // tokens; 0: 128,000
	Reserve int // kept for the answer; 0: the request's MaxOutput, else 4,096; at most half of Size
}

// Budget returns how many tokens a request may take: the size less the reserve, which is never more
// than half of the size.
func (w Window) Budget(req *provider.Request) int { return w.size() - w.reserve(req) }

func (w Window) size() int {
	if w.Size <= 0 {
		return 128_000
	}
	return w.Size
}

func (w Window) reserve(req *provider.Request) int {
	n := w.Reserve
	if n <= 0 && req != nil {
		n = req.MaxOutput
	}
	if n <= 0 {
		n = 4_096
	}
	return min(n, w.size()/2)
}

// A Context is what a request says besides the conversation. It is put in for one request and is no
// part of the conversation. A provider's prompt cache holds up to where it differs from one request
// to the next: keep User the same for a session, and Screen and Fetched for the steps that follow
// one message of the user.
type Context struct {
	// User is what is known of the user: put behind the system text, never left out.
	User string `json:"user,omitempty"`
	// Screen is what the user sees right now: put behind the newest message of the user, never left
	// out.
	Screen string `json:"screen,omitempty"`
	// Fetched is what was looked up for this request, most important first: put behind the newest
	// message of the user, each piece whole, as far as there is room when everything else has its
	// own.
	Fetched []Fetched `json:"fetched,omitempty"`
	// HostNote is text that the host adds to this request, in its own message after the
	// conversation. It is counted but not inserted: the sender of the request appends it, in the
	// form that [HostMessage] returns.
	HostNote string `json:"-"`
	// Goal is the index of a message of the user that stays like the first and the newest: what the
	// present work began with, in a conversation that had another before. 0: the first.
	Goal int `json:"-"`
}

// Fetched is a piece of context that may be left out.
type Fetched struct {
	Name string `json:"name"` // for reports, and shown to the model
	Text string `json:"text"`
}

// withUser returns the system text with what is known of the user.
func (c *Context) withUser(system string) string {
	switch {
	case c.User == "":
		return system
	case system == "":
		return c.User
	}
	return system + "\n\n" + c.User
}

// parts returns the parts that go behind the newest message of the user, those of the pieces named
// alone.
func (c *Context) parts(fetched []Fetched) []provider.Part {
	var out []provider.Part
	if c.Screen != "" {
		out = append(out, provider.TextPart("\n\n<screen>\n"+EscapeMarker(c.Screen, "screen")+"\n</screen>"))
	}
	for _, f := range fetched {
		out = append(out, provider.TextPart(fetchedText(f)))
	}
	return out
}

// fetchedText marks a piece as data; what looks like the end of the mark is disarmed.
func fetchedText(f Fetched) string {
	name := strings.Map(func(r rune) rune {
		if r == '"' || r == '<' || r == '>' || r < ' ' {
			return ' '
		}
		return r
	}, f.Name)
	return "\n\n<context name=\"" + name + "\">\n" + EscapeMarker(f.Text, "context") + "\n</context>"
}

// fit returns which pieces have room, and the names of the others. One that doesn't fit doesn't
// keep out a smaller one.
func (c *Context) fit(count func(string) int, room int) (in []Fetched, out []string) {
	for _, f := range c.Fetched {
		if n := count(fetchedText(f)); n <= room {
			room -= n
			in = append(in, f)
		} else {
			out = append(out, f.Name)
		}
	}
	return in, out
}

// attach returns messages with parts behind the newest message of the user; if there is none, it
// returns false. The messages given aren't changed.
func attach(messages []provider.Message, parts []provider.Part) ([]provider.Message, bool) {
	i := newestUser(messages)
	if i < 0 {
		return messages, false
	}
	out := append([]provider.Message(nil), messages...)
	out[i].Parts = append(append([]provider.Part(nil), messages[i].Parts...), parts...)
	return out, true
}

// newestUser returns the index of the newest message of the user that is no note and wasn't told by
// an agent, -1 if there is none.
func newestUser(messages []provider.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Role == provider.RoleUser && noteOf(m) == "" && !IsHostMessage(m) {
			return i
		}
	}
	return -1
}
