package anthropic

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A turn is a message of the request.
type turn struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *content, or json.RawMessage for blocks that are sent back unchanged
}

// A conversation converts the messages of one request.
type conversation struct {
	names *adapter.Names
	mark  *cacheControl
	marks int // cache marks that are left

	cached    map[*provider.Part]bool // parts that get a mark
	called    []string                // the names of all calls, as sent
	marked    []*content
	container string
}

// convert returns the turns: user and model alternate, and the user is first.
func (c *conversation) convert(messages []provider.Message) ([]turn, error) {
	ran := ranBy(messages)
	c.cached = map[*provider.Part]bool{}
	at, last := -1, (*provider.Part)(nil) // the last part of a message that is sent
	said := adapter.Conversation{ID: adapter.SafeName, Sends: func(i int, p *provider.Part) bool {
		if i != at {
			at, last = i, nil
		}
		model := messages[i].Role == provider.RoleAssistant
		sends := model && ran.sends(p, i) || !model && userSends(p)
		if sends {
			last = p
		}
		if p.Cache && last != nil {
			c.cached[last] = true
		}
		return sends
	}}.Turns(messages)
	var turns []turn
	if len(said) > 0 && said[0].Model {
		turns = append(turns, turn{"user", []any{textBlock("(The conversation continues.)")}})
	}
	var open []adapter.Call // of the model's last turn
	for i := range said {
		t := &said[i]
		if t.Model {
			turns = append(turns, turn{"assistant", c.model(t)})
		} else {
			blocks, err := c.user(open, t.Parts)
			if err != nil {
				return nil, err
			}
			turns = append(turns, turn{"user", blocks})
		}
		open = t.Calls
	}
	switch n := len(said) - 1; {
	case len(open) > 0:
		answers, err := c.user(open, nil)
		if err != nil {
			return nil, err
		}
		turns = append(turns, turn{"user", answers})
	case n >= 0 && said[n].Model:
		trimEnd(turns[len(turns)-1].Content)
	}
	c.container = container(messages)
	return turns, nil
}

// userSends reports whether a part of the user or of a tool is sent.
func userSends(p *provider.Part) bool {
	switch p.Kind {
	case provider.PartText:
		return !blank(p.Text)
	case provider.PartMedia:
		return p.Media != nil
	case provider.PartToolResult:
		return p.Result != nil
	case provider.PartOpaque:
		return isBlock(p)
	}
	return false
}

// A ran has the calls that the provider ran itself, and whether they have a result: the API rejects
// one without the other.
type ran struct {
	calls, results map[string]bool
	last           int  // the last message of the model
	continued      bool // it is continued, and may have open calls
}

func ranBy(messages []provider.Message) *ran {
	r := &ran{calls: map[string]bool{}, results: map[string]bool{}, last: -1}
	for i := range messages {
		if messages[i].Role != provider.RoleAssistant {
			continue
		}
		r.last, r.continued = i, i == len(messages)-1
		for j := range messages[i].Parts {
			switch p := &messages[i].Parts[j]; {
			case own(p) == "":
			case p.Kind == provider.PartProviderCall && p.Call != nil:
				r.calls[p.Call.ID] = true
			case p.Kind == provider.PartProviderResult && p.Result != nil && r.calls[p.Result.CallID]:
				r.results[p.Result.CallID] = true
			case p.Kind == provider.PartToolCall && fieldsOf(p)["caller"] != nil:
				r.continued = true // the provider's code waits for this result
			}
		}
	}
	return r
}

// sends reports whether a part of message i, a message of the model, is sent.
func (r *ran) sends(p *provider.Part, i int) bool {
	switch p.Kind {
	case provider.PartText, provider.PartRefusal:
		return !blank(p.Text)
	case provider.PartReasoning:
		return own(p) == kindSignature
	case provider.PartToolCall:
		return p.Call != nil
	case provider.PartProviderCall:
		return p.Call != nil && isBlock(p) && (r.results[p.Call.ID] || r.continued && i == r.last)
	case provider.PartProviderResult:
		return p.Result != nil && isBlock(p) && r.calls[p.Result.CallID]
	case provider.PartOpaque:
		return own(p) == kindRedacted || isBlock(p)
	}
	return false
}

// own returns the kind of a part's opaque data if this provider made it, else "".
func own(p *provider.Part) string {
	if p.Opaque == nil || p.Opaque.Provider != Name {
		return ""
	}
	return p.Opaque.Kind
}

// isBlock reports whether opaque data is a block that is sent unchanged.
func isBlock(p *provider.Part) bool {
	switch own(p) {
	case "", kindSignature, kindCitations, kindFields, kindCaller, kindContainer, kindStopDetails, kindRedacted:
		return false
	}
	return strings.HasPrefix(p.Opaque.Data, "{") && json.Valid([]byte(p.Opaque.Data))
}

// fieldsOf returns the other fields of a call that the provider sent.
func fieldsOf(p *provider.Part) (fields map[string]json.RawMessage) {
	switch own(p) {
	case kindFields:
		if json.Unmarshal([]byte(p.Opaque.Data), &fields) != nil {
			return nil
		}
	case kindCaller:
		if json.Valid([]byte(p.Opaque.Data)) {
			fields = map[string]json.RawMessage{"caller": json.RawMessage(p.Opaque.Data)}
		}
	}
	return fields
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// trimEnd removes white space from the end of a message that the model has to continue: the API
// rejects it.
func trimEnd(blocks []any) {
	if b, ok := blocks[len(blocks)-1].(*content); ok && b.Type == "text" {
		b.Text = strings.TrimRight(b.Text, " \t\r\n")
	}
}

// container returns the newest container in which the provider ran code, if it hasn't expired.
func container(messages []provider.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			if p.Kind != provider.PartOpaque || own(p) != kindContainer {
				continue
			}
			var c struct {
				ID      string    `json:"id"`
				Expires time.Time `json:"expires_at"`
			}
			if json.Unmarshal([]byte(p.Opaque.Data), &c) != nil || !c.Expires.IsZero() && time.Now().After(c.Expires) {
				return ""
			}
			return c.ID
		}
	}
	return ""
}
