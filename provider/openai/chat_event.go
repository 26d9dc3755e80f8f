package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"mime"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A chatEvent is a chunk of a stream, or a whole answer.
type chatEvent struct {
	ID            string          `json:"id"`
	Model         string          `json:"model"`
	Choices       []chatChoice    `json:"choices"`
	Usage         json.RawMessage `json:"usage"`
	Error         json.RawMessage `json:"error"`
	XGroq         *groqExtra      `json:"x_groq"`
	Citations     json.RawMessage `json:"citations"`
	SearchResults json.RawMessage `json:"search_results"`
	chatMetadata
}

type groqExtra struct {
	Usage json.RawMessage `json:"usage"`
	Error string          `json:"error"`
}

type chatChoice struct {
	Index        optional        `json:"index"`
	Delta        chatDelta       `json:"delta"`
	Message      chatDelta       `json:"message"`
	FinishReason string          `json:"finish_reason"`
	NativeFinish looseText       `json:"native_finish_reason"` // of OpenRouter: what its upstream said
	Error        json.RawMessage `json:"error"`
	Logprobs     adapter.Detail  `json:"logprobs"`
	Filter       adapter.Detail  `json:"content_filter_results"` // of Azure
}

type chatDelta struct {
	Content          content           `json:"content"`
	ReasoningContent looseText         `json:"reasoning_content"`
	Reasoning        looseText         `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	Refusal          looseText         `json:"refusal"`
	ToolCalls        []chatCallDelta   `json:"tool_calls"`
	FunctionCall     *chatCallFunction `json:"function_call"`
	Annotations      []annotation      `json:"annotations"`
	Images           []contentPart     `json:"images"`
	Audio            *chatAudioDelta   `json:"audio"`
}

type chatCallDelta struct {
	Index    optional         `json:"index"`
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function chatCallFunction `json:"function"`
	Custom   chatCustomCall   `json:"custom"`
	Extra    json.RawMessage  `json:"extra_content"` // goes back with the call
}

type chatCallFunction struct {
	Name      string   `json:"name"`
	Arguments argsText `json:"arguments"`
}

// An optional is a number that may be missing.
type optional struct {
	n   int
	set bool
}

// UnmarshalJSON decodes a whole number, which may be written as 1.0, and ignores other values.
func (o *optional) UnmarshalJSON(b []byte) error {
	var n adapter.Index
	if o.set = b[0] != 'n' && n.UnmarshalJSON(b) == nil; o.set {
		o.n = int(n)
	}
	return nil
}

// or returns the number, or n if it is missing.
func (o optional) or(n int) int {
	if o.set {
		return o.n
	}
	return n
}

// A looseText is a text; a value of another type counts as empty.
type looseText string

// UnmarshalJSON decodes a string, and ignores other values.
func (t *looseText) UnmarshalJSON(b []byte) error {
	*t = ""
	if b[0] != '"' {
		return nil
	}
	return (*adapter.Text)(t).UnmarshalJSON(b)
}

// An argsText is the arguments of a call: a string with JSON, or, from some servers, the JSON
// itself.
type argsText string

// UnmarshalJSON accepts any JSON.
func (t *argsText) UnmarshalJSON(b []byte) error {
	*t = ""
	switch b[0] {
	case '"':
		return (*adapter.Text)(t).UnmarshalJSON(b)
	case 'n':
		return nil
	}
	*t = argsText(b)
	return nil
}

// A content is a text, or a list of parts.
type content struct {
	text  string
	parts []contentPart
}

type contentPart struct {
	Type     string    `json:"type"`
	Text     looseText `json:"text"`
	Refusal  looseText `json:"refusal"`
	Thinking content   `json:"thinking"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// UnmarshalJSON decodes a string or a list.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	switch b[0] {
	case '"':
		return (*adapter.Text)(&c.text).UnmarshalJSON(b)
	case '[':
		return decode(b, &c.parts)
	}
	return nil
}

// String returns all of the text.
func (c *content) String() string {
	if len(c.parts) == 0 {
		return c.text
	}
	var b strings.Builder
	b.WriteString(c.text)
	for i := range c.parts {
		b.WriteString(string(c.parts[i].Text))
	}
	return b.String()
}

// dataURL returns the media of an address: its data, or a reference to it.
func dataURL(address string) (provider.Media, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return provider.Media{Type: "image/*", URL: address}, address != ""
	}
	kind, text, ok := strings.Cut(rest, ",")
	kind, is64 := strings.CutSuffix(kind, ";base64")
	if !ok || !is64 {
		return provider.Media{}, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return provider.Media{}, false
	}
	if full, _, err := mime.ParseMediaType(kind); err == nil {
		kind = full
	}
	return provider.Media{Type: kind, Data: data}, true
}

// A chatAudioDelta is a piece of the model's audio.
type chatAudioDelta struct {
	ID         string `json:"id"`
	Data       string `json:"data"`
	Transcript string `json:"transcript"`
}

// A chatSpeech is the model's audio so far.
type chatSpeech struct {
	id   string
	data []byte
}

func (s *chatSpeech) add(d *chatAudioDelta) {
	s.id = cmp.Or(s.id, d.ID)
	if data, err := base64.StdEncoding.DecodeString(d.Data); err == nil {
		s.data = append(s.data, data...)
	}
}

// file returns the audio. The request's options name its format; file detects it from the first
// bytes.
func (s *chatSpeech) file() (m provider.Media, id string, ok bool) {
	if len(s.data) == 0 {
		return provider.Media{}, "", false
	}
	kind := "audio/pcm"
	for _, k := range []struct {
		magic, kind string
	}{{"RIFF", "audio/wav"}, {"ID3", "audio/mpeg"}, {"\xff\xfb", "audio/mpeg"},
		{"\xff\xf3", "audio/mpeg"}, {"fLaC", "audio/flac"}, {"OggS", "audio/ogg"}} {
		if strings.HasPrefix(string(s.data[:min(8, len(s.data))]), k.magic) {
			kind = k.kind
		}
	}
	return provider.Media{Type: kind, Data: s.data}, s.id, true
}
