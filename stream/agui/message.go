package agui

import "encoding/json"

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

func (r Role) known() bool {
	switch r {
	case RoleDeveloper, RoleSystem, RoleAssistant, RoleUser, RoleTool, RoleActivity, RoleReasoning:
		return true
	}
	return false
}

// A Message is a message of a conversation. Which fields it has depends on its role; others are
// left out of its JSON.
type Message struct {
	Attribution
	ID   string
	Role Role
	// Content is empty for an assistant that only calls tools. Only messages of users and tools may
	// have parts. An activity has Activity instead.
	Content Content

	Name           string          // of the author: developer, system, assistant and user
	ToolCalls      []ToolCall      // assistant
	ToolCallID     string          // tool: the call that it answers
	Error          string          // tool: why the tool failed
	ActivityType   string          // activity
	Activity       json.RawMessage // activity: an object; nil: {}
	EncryptedValue string          // what a client keeps without reading it; not for an activity
	Metadata       Metadata
}

// message is the JSON of a [Message].
type message struct {
	ID   string `json:"id"`
	Role Role   `json:"role"`
	Attribution
	Name           string          `json:"name,omitempty"`
	Content        json.RawMessage `json:"content,omitempty"`
	ToolCalls      []ToolCall      `json:"toolCalls,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	Error          string          `json:"error,omitempty"`
	ActivityType   *string         `json:"activityType,omitempty"`
	EncryptedValue string          `json:"encryptedValue,omitempty"`
	Metadata       Metadata        `json:"metadata,omitempty"`
}

// MarshalJSON returns the JSON of m with the fields of its role.
func (m Message) MarshalJSON() ([]byte, error) {
	out := message{ID: m.ID, Role: m.Role, Attribution: m.Attribution, EncryptedValue: m.EncryptedValue,
		Metadata: m.Metadata}
	switch m.Role {
	case RoleActivity:
		out.ActivityType, out.EncryptedValue, out.Content = &m.ActivityType, "", orElse(m.Activity, "{}")
		return encode(out)
	case RoleTool:
		out.ToolCallID, out.Error = m.ToolCallID, m.Error
	case RoleAssistant:
		out.Name, out.ToolCalls = m.Name, m.ToolCalls
	case RoleReasoning:
	default:
		out.Name = m.Name
	}
	if m.Role == RoleAssistant && m.Content.Text == "" {
		return encode(out)
	}
	content := m.Content
	if m.Role != RoleUser && m.Role != RoleTool {
		content.Parts = nil
	}
	var err error
	if out.Content, err = encode(content); err != nil {
		return nil, err
	}
	return encode(out)
}

func (m *Message) decodeJSON(raw json.RawMessage, path string) error {
	var in message
	if err := decodeInto(raw, &in, path); err != nil {
		return err
	}
	*m = Message{
		Attribution: in.Attribution, ID: in.ID, Role: in.Role, Name: in.Name, ToolCalls: in.ToolCalls,
		ToolCallID: in.ToolCallID,
		Error:      in.Error, EncryptedValue: in.EncryptedValue, Metadata: in.Metadata,
	}
	if in.Content == nil && m.Role != RoleAssistant {
		return &fieldError{join(path, "content"), "is missing"}
	}
	switch m.Role {
	case RoleActivity:
		if in.ActivityType == nil {
			return &fieldError{join(path, "activityType"), "is missing"}
		}
		if kindOf(in.Content) != "an object" {
			return &fieldError{join(path, "content"), "is " + kindOf(in.Content) + ": it must be an object"}
		}
		m.ActivityType, m.Activity = *in.ActivityType, in.Content
	case RoleUser, RoleTool:
		if err := decodeInto(in.Content, &m.Content, join(path, "content")); err != nil {
			return err
		}
		if m.Role == RoleTool && m.ToolCallID == "" {
			return &fieldError{join(path, "toolCallId"), "is missing"}
		}
	default:
		if in.Content != nil {
			return decodeInto(in.Content, &m.Content.Text, join(path, "content"))
		}
	}
	return nil
}

// UnmarshalJSON reads a message. An unknown role is an error.
func (m *Message) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }

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

func (c *Content) decodeJSON(raw json.RawMessage, path string) error {
	switch kindOf(raw) {
	case "a string":
		return decodeInto(raw, &c.Text, path)
	case "an array":
		return decodeInto(raw, &c.Parts, path)
	}
	return &fieldError{path, "is " + kindOf(raw) + ": it must be a string or an array of parts"}
}

// UnmarshalJSON reads a string, or an array of parts. Parts of unknown kinds are left out.
func (c *Content) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

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

func (t PartType) known() bool {
	switch t {
	case PartText, PartImage, PartAudio, PartVideo, PartDocument:
		return true
	}
	return false
}

// A Part is a part of a message: text, or a file.
type Part struct {
	Type     PartType        `json:"type"`
	ID       string          `json:"id,omitempty"`
	Text     *string         `json:"text,omitempty"`     // of PartText, which must have one
	Source   *Source         `json:"source,omitempty"`   // of the other kinds, which must have one
	Metadata json.RawMessage `json:"metadata,omitempty"` // any JSON but null
}

// TextPart returns a Part of text.
func TextPart(s string) Part { return Part{Type: PartText, Text: &s} }

func (p *Part) decodeJSON(raw json.RawMessage, path string) error {
	type fields Part
	if err := decodeInto(raw, (*fields)(p), path); err != nil {
		return err
	}
	var given struct {
		Source json.RawMessage `json:"source"`
	}
	if err := json.Unmarshal(raw, &given); err == nil && given.Source != nil && p.Source == nil {
		return errUnknown // a part is of no use without its source
	}
	return p.check(path)
}

func (p *Part) check(path string) error {
	if p.Type == PartText && p.Text == nil {
		return &fieldError{join(path, "text"), "is missing"}
	}
	if p.Type != PartText && p.Source == nil {
		return &fieldError{join(path, "source"), "is missing"}
	}
	if kindOf(p.Metadata) == "null" {
		return &fieldError{join(path, "metadata"), "is null: leave it out"}
	}
	return nil
}

// A SourceType says where the bytes of a file are.
type SourceType string

// Where the bytes of a file are.
const (
	SourceData SourceType = "data" // Value has them in base64
	SourceURL  SourceType = "url"  // Value is their address
	SourceFile SourceType = "file" // Value is the provider's name for them
)

func (t SourceType) known() bool { return t == SourceData || t == SourceURL || t == SourceFile }

// A Source says where the bytes of a file are.
type Source struct {
	Type     SourceType `json:"type"`
	Value    string     `json:"value"`
	MimeType string     `json:"mimeType,omitempty"` // SourceData must have one
	Provider string     `json:"provider,omitempty"` // who issued the name of SourceFile
}

func (s *Source) decodeJSON(raw json.RawMessage, path string) error {
	type fields Source
	if err := decodeInto(raw, (*fields)(s), path); err != nil {
		return err
	}
	if s.Type == SourceData && s.MimeType == "" {
		return &fieldError{join(path, "mimeType"), "is missing"}
	}
	return nil
}

// A ToolCall is a call of an assistant's message.
type ToolCall struct {
	ID             string
	Name           string // of the tool
	Arguments      string // usually JSON
	EncryptedValue string
	Metadata       Metadata
}

// toolCall is the JSON of a [ToolCall].
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	EncryptedValue string   `json:"encryptedValue,omitempty"`
	Metadata       Metadata `json:"metadata,omitempty"`
}

// MarshalJSON returns the JSON of a call of a function.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	out := toolCall{ID: c.ID, Type: "function", EncryptedValue: c.EncryptedValue, Metadata: c.Metadata}
	out.Function.Name, out.Function.Arguments = c.Name, c.Arguments
	return encode(out)
}

func (c *ToolCall) decodeJSON(raw json.RawMessage, path string) error {
	var in toolCall
	if err := decodeInto(raw, &in, path); err != nil {
		return err
	}
	if in.Type != "function" {
		return errUnknown
	}
	*c = ToolCall{ID: in.ID, Name: in.Function.Name, Arguments: in.Function.Arguments,
		EncryptedValue: in.EncryptedValue, Metadata: in.Metadata}
	return nil
}

// UnmarshalJSON reads the JSON of a call of a function.
func (c *ToolCall) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }
