package openai

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

var errEmpty = errors.New("openai: the request has no message with content")

// A chatPart is a part of a message's content.
type chatPart struct {
	Type         string     `json:"type"`
	Text         string     `json:"text,omitempty"`
	ImageURL     *chatURL   `json:"image_url,omitempty"`
	VideoURL     *chatURL   `json:"video_url,omitempty"`
	InputAudio   *chatAudio `json:"input_audio,omitempty"`
	File         *chatFile  `json:"file,omitempty"`
	Thinking     []chatPart `json:"thinking,omitempty"`
	CacheControl *cacheMark `json:"cache_control,omitempty"`
}

type chatURL struct {
	URL string `json:"url"`
}

type chatAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type chatFile struct {
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
	FileID   string `json:"file_id,omitempty"`
}

// chatContent returns the content of a user message: a string if it is one text.
func (c *conversation) chatContent(parts []*provider.Part) (any, error) {
	if len(parts) == 1 && parts[0].Kind == provider.PartText && !(parts[0].Cache && c.m.host.Chat.CacheMarks) {
		return parts[0].Text, nil
	}
	out := make([]chatPart, 0, len(parts))
	for _, p := range parts {
		one := chatPart{Type: "text", Text: p.Text}
		if p.Kind == provider.PartMedia {
			var err error
			if one, err = c.chatMedia(p.Media); err != nil {
				return nil, err
			}
		}
		if p.Cache && c.m.host.Chat.CacheMarks {
			one.CacheControl = ephemeral
		}
		out = append(out, one)
	}
	return out, nil
}

// chatMedia returns a part for media.
func (c *conversation) chatMedia(m *provider.Media) (chatPart, error) {
	switch kind, sub := mediaKind(m); kind {
	case "image":
		if address := addressOf(m); address != "" {
			return chatPart{Type: "image_url", ImageURL: &chatURL{address}}, nil
		}
	case "video":
		if address := addressOf(m); address != "" && !c.m.host.own {
			return chatPart{Type: "video_url", VideoURL: &chatURL{address}}, nil
		}
	case "audio":
		if len(m.Data) > 0 {
			return chatPart{Type: "input_audio",
				InputAudio: &chatAudio{Data: base64.StdEncoding.EncodeToString(m.Data), Format: audioFormat(sub)}}, nil
		}
	case "text":
		if len(m.Data) > 0 {
			return chatPart{Type: "text", Text: textFile(m)}, nil
		}
	}
	switch {
	case m.FileID != "":
		return chatPart{Type: "file", File: &chatFile{FileID: m.FileID}}, nil
	case len(m.Data) > 0:
		return chatPart{Type: "file", File: &chatFile{Filename: fileName(m), FileData: addressOf(m)}}, nil
	case m.URL != "" && !c.m.host.own:
		return chatPart{Type: "file", File: &chatFile{Filename: fileName(m), FileData: m.URL}}, nil
	}
	return chatPart{},
		fmt.Errorf("openai: Chat Completions can't send %s by URL; give its data or, for an uploaded file, its id",
			m.Type)
}

// responsesMedia returns a part for media.
func (c *conversation) responsesMedia(m *provider.Media) (inputPart, error) {
	switch kind, sub := mediaKind(m); kind {
	case "image":
		if m.FileID != "" {
			return inputPart{Type: "input_image", FileID: m.FileID}, nil
		}
		return inputPart{Type: "input_image", ImageURL: addressOf(m)}, nil
	case "audio":
		if len(m.Data) > 0 {
			return inputPart{Type: "input_audio",
				InputAudio: &chatAudio{Data: base64.StdEncoding.EncodeToString(m.Data), Format: audioFormat(sub)}}, nil
		}
	case "video":
		return inputPart{}, fmt.Errorf("openai: the Responses API doesn't accept %s", m.Type)
	case "text":
		if len(m.Data) > 0 {
			return inputPart{Type: "input_text", Text: textFile(m)}, nil
		}
	}
	switch {
	case m.FileID != "":
		return inputPart{Type: "input_file", FileID: m.FileID}, nil
	case len(m.Data) > 0:
		return inputPart{Type: "input_file", Filename: fileName(m), FileData: addressOf(m)}, nil
	}
	return inputPart{Type: "input_file", FileURL: m.URL}, nil
}

// mediaKind returns the two halves of a media type.
func mediaKind(m *provider.Media) (kind, sub string) {
	full, _, err := mime.ParseMediaType(m.Type)
	if err != nil {
		full = strings.ToLower(strings.TrimSpace(m.Type))
	}
	kind, sub, _ = strings.Cut(full, "/")
	return kind, sub
}

// addressOf returns the URL of media, or a data URL.
func addressOf(m *provider.Media) string {
	if len(m.Data) == 0 {
		return m.URL
	}
	return "data:" + cmp.Or(m.Type, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

func audioFormat(sub string) string {
	switch sub {
	case "mpeg", "mpga", "x-mp3":
		return "mp3"
	case "wave", "x-wav", "vnd.wave":
		return "wav"
	}
	return sub
}

// fileName returns a name for a file, which the servers require with data.
func fileName(m *provider.Media) string {
	if m.Name != "" {
		return m.Name
	}
	_, sub := mediaKind(m)
	return "file." + cmp.Or(sub, "bin")
}

// textFile returns a text file as part of the prompt: servers accept few types of files, but any
// text this way.
func textFile(m *provider.Media) string {
	text := strings.ToValidUTF8(string(m.Data), "\uFFFD")
	if m.Name == "" {
		return text
	}
	return m.Name + ":\n" + text
}
