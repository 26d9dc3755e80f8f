package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// RequestFrom rebuilds the request of an exchange from its recorded body, as far as it is sane: system text, messages with
// text, readable reasoning, calls, results and media, tools and the output limit. It fails for a format that it doesn't
// know, and if the request wasn't recorded or has no messages.
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
		return nil, fmt.Errorf("wire: the request of %s has no messages that can be read", c.Name)
	}
	return req, nil
}

// readers has a reader for each format whose requests can be read.
var readers = map[string]func(body []byte) (*provider.Request, error){
	"anthropic-messages":      readAnthropic,
	"openai-chat":             readChat,
	"openai-responses":        readResponses,
	"gemini-generate-content": readGemini,
}

// A builder puts parts into messages: consecutive ones of a role into one, unless next was called in between.
type builder struct {
	req   *provider.Request
	names map[string]string // of tools, by the ids of their calls
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

// next has the following part begin a message.
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

// mediaAt returns the media at an address, which may hold the data itself.
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
