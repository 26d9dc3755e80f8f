package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// RequestFrom rebuilds the request of an exchange from its recorded body: system text, messages with
// text, readable reasoning, calls, results and media, tools and the output limit. It fails for an unknown format,
// and if the request wasn't recorded or has no messages.
func RequestFrom(c *Case, exchange int) (*provider.Request, error) {
	if exchange < 0 || exchange >= len(c.Exchanges) {
		return nil, fmt.Errorf("wire: %s has no exchange %d", c.Name, exchange)
	}
	r := &c.Exchanges[exchange].Request
	if r.Body == "" || r.Known != nil && !*r.Known {
		return nil, errors.New("wire: the request wasn't recorded")
	}
	body, err := r.Bytes()
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	read := readers[c.Wire]
	if read == nil {
		return nil, fmt.Errorf("wire: requests of the format %q can't be read", c.Wire)
	}
	req, err := read(body)
	if err != nil {
		return nil, fmt.Errorf("wire: the request of %s: %w", c.Name, err)
	}
	if len(req.Messages) == 0 {
		return nil, fmt.Errorf("wire: the request of %s has no readable messages", c.Name)
	}
	return req, nil
}

// readers are the readers of requests by format.
var readers = map[string]func(body []byte) (*provider.Request, error){
	"anthropic-messages":      readAnthropic,
	"openai-chat":             readChat,
	"openai-responses":        readResponses,
	"gemini-generate-content": readGemini,
}

// A builder collects parts in messages: consecutive parts of a role in one message, unless next was called in between.
type builder struct {
	req   *provider.Request
	names map[string]string // names of tools by the ids of their calls
	apart bool
}

func (b *builder) add(role provider.Role, p provider.Part) {
	if n := len(b.req.Messages); n > 0 && b.req.Messages[n-1].Role == role && !b.apart {
		b.req.Messages[n-1].Parts = append(b.req.Messages[n-1].Parts, p)
	} else {
		b.req.Messages = append(b.req.Messages, provider.Message{Role: role, Parts: []provider.Part{p}})
	}
	b.apart = false
}

// next makes the following part begin a message.
func (b *builder) next() { b.apart = true }

func (b *builder) call(id, name string, input json.RawMessage) {
	c := &provider.ToolCall{ID: id, Name: name, Input: input}
	if len(input) > 0 && !json.Valid(input) {
		c.Input, c.Invalid = nil, string(input)
	}
	if b.names == nil {
		b.names = map[string]string{}
	}
	b.names[id] = name
	b.add(provider.RoleAssistant, provider.Part{Kind: provider.PartToolCall, Call: c})
}

func joinSystem(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// mediaAt returns the media of a URL, which may contain the data.
func mediaAt(address, kind, name string) provider.Media {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return provider.Media{Type: kind, Name: name, URL: address}
	}
	head, data, _ := strings.Cut(rest, ",")
	if k, _, _ := strings.Cut(head, ";"); k != "" {
		kind = k
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return provider.Media{Type: kind, Name: name, URL: address}
	}
	return provider.Media{Type: kind, Name: name, Data: decoded}
}
