package agui

import (
	"encoding/json"
	"slices"
)

// A Role says whose a message is.
type Role string

// The roles.
const (
	RoleDeveloper Role = "developer"
	RoleSystem    Role = "system"
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
	RoleTool      Role = "tool"      // a tool's result
	RoleActivity  Role = "activity"  // structured progress
	RoleReasoning Role = "reasoning" // what the model thought
)

var roles = []Role{RoleDeveloper, RoleSystem, RoleAssistant, RoleUser, RoleTool, RoleActivity, RoleReasoning}

// A Message is a message of a conversation. Which fields it has depends on its role.
type Message struct {
	ID   string `json:"id"`
	Role Role   `json:"role"`
	// Content is empty for an assistant that only calls tools, and for an activity that a client
	// has sent. Only messages of users and tools may have parts.
	Content    Content    `json:"content"`
	ToolCalls  []ToolCall `json:"toolCalls,omitempty"`  // assistant
	ToolCallID string     `json:"toolCallId,omitempty"` // tool: the call that it answers
	Error      string     `json:"error,omitempty"`      // tool: why the tool failed
}

// MarshalJSON returns the JSON of m. An assistant's message may have no content.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message // without this method
	if m.Role == RoleAssistant && m.Content.Text == "" && m.Content.Parts == nil {
		return encode(struct {
			plain
			Content *Content `json:"content,omitempty"`
		}{plain: plain(m)})
	}
	return encode(plain(m))
}

// Content is the text of a message, or its parts. The zero value is an empty text.
type Content struct {
	Text  string
	Parts []Part // if not nil, it is the content, and Text has no meaning
}

// Text returns a Content of one text.
func Text(s string) Content { return Content{Text: s} }

// MarshalJSON returns a string, or an array of parts.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Parts != nil {
		return encode(c.Parts)
	}
	return encode(c.Text)
}

// UnmarshalJSON reads a string, or an array of parts. Parts of unknown kinds are left out, and so
// are empty ones. The content of an activity is left out, too.
func (c *Content) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '{':
		return nil
	case '[':
		if err := json.Unmarshal(data, &c.Parts); err != nil {
			return err
		}
		c.Parts = slices.DeleteFunc(c.Parts, func(p Part) bool {
			return !slices.Contains(partTypes, p.Type) || (p.Type == PartText) != (p.Source == nil)
		})
		return nil
	}
	return json.Unmarshal(data, &c.Text)
}

// A PartType is a kind of [Part].
type PartType string

// The kinds of parts.
const (
	PartText     PartType = "text"
	PartImage    PartType = "image"
	PartAudio    PartType = "audio"
	PartVideo    PartType = "video"
	PartDocument PartType = "document"
)

var partTypes = []PartType{PartText, PartImage, PartAudio, PartVideo, PartDocument}

// A Part is a part of a message: text, or a file.
type Part struct {
	Type   PartType `json:"type"`
	Text   string   `json:"text,omitempty"`   // of PartText, which must have one
	Source *Source  `json:"source,omitempty"` // of the other kinds, which must have one
}

// A SourceType says where the bytes of a file are.
type SourceType string

// Where the bytes of a file are.
const (
	SourceData SourceType = "data" // Value has them in base64
	SourceURL  SourceType = "url"  // Value is their address
)

// A Source says where the bytes of a file are.
type Source struct {
	Type     SourceType `json:"type"`
	Value    string     `json:"value"`
	MimeType string     `json:"mimeType,omitempty"` // SourceData must have one
}

// A ToolCall is a call of an assistant's message.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // "function"
	Function Function `json:"function"`
}

// A Function is what a [ToolCall] calls.
type Function struct {
	Name      string `json:"name"`      // of the tool
	Arguments string `json:"arguments"` // usually JSON
}

// Call returns a call of a tool.
func Call(id, tool, arguments string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: Function{tool, arguments}}
}
