package assistant

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/provider"
)

// A called is a call of a turn with its result.
type called struct {
	call   *provider.ToolCall
	result *provider.ToolResult // nil: there is none yet
}

// A turn is what the messages of a request say about the newest message of the user.
type turn struct {
	user, session string
	labels        provider.LabelSet
	message       string
	calls         []called             // since the message
	unsaid        *called              // a call that ended when the message came: nobody has said yet how
	offered       []Option             // by the answer before the message
	ideas         []contenttools.Topic // that were suggested last
}

// turnOf reads the messages of a request.
func turnOf(req *provider.Request) (t turn) {
	t.user, t.session, t.labels = req.Labels.User, req.Labels.Session, req.Labels.Extra
	for i := range req.Messages {
		m := &req.Messages[i]
		for j := range m.Parts {
			p := &m.Parts[j]
			switch {
			case p.Call != nil:
				t.calls = append(t.calls, called{call: p.Call})
				if p.Call.Name == contenttools.StructuredResponse {
					var said contenttools.Answer
					_ = json.Unmarshal(p.Call.Input, &said) // what isn't an answer offers nothing
					t.offered = said.Options
				}
			case p.Result != nil:
				if e, ok := envelopeOf(p.Result); ok && p.Result.Name == contenttools.TopicsResearch && e.Success {
					var found struct{ Topics []contenttools.Topic }
					_ = json.Unmarshal(e.Data, &found) // what isn't a list has no ideas
					t.ideas = found.Topics
				}
				for k := range t.calls {
					if t.calls[k].call.ID == p.Result.CallID {
						t.calls[k].result = p.Result
					}
				}
			}
		}
		if m.Role == provider.RoleUser && len(m.Parts) > 0 {
			t.message, t.unsaid = m.Parts[0].Text, nil // the other parts are the screen
			if n := len(t.calls); n > 0 && t.calls[n-1].call.Name != contenttools.StructuredResponse &&
				t.calls[n-1].ours() {
				t.unsaid = &t.calls[n-1]
			}
			t.calls = nil
		}
	}
	return t
}

// ours reports whether a router has made the call, and it has ended.
func (c *called) ours() bool { return strings.HasPrefix(c.call.ProviderID, route) && c.result != nil }

// envelopeOf returns the envelope of a result, if it has one.
func envelopeOf(result *provider.ToolResult) (e contenttools.Envelope, ok bool) {
	text := result.Text()
	if i := strings.IndexByte(text, '{'); i > 0 {
		text = text[i:] // an error has words before it
	}
	ok = json.NewDecoder(strings.NewReader(text)).Decode(&e) == nil && (e.Success || e.Error != nil)
	return e, ok
}
