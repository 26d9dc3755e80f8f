package recall

import (
	"context"
	"strings"

	"github.com/pawlkit/pawl/tools"
)

type noteWrite struct {
	Key    string `json:"key" jsonschema:"what the note is about, for example plan or api.findings"`
	Text   string `json:"text" jsonschema:"the note"`
	Append bool   `json:"append,omitempty" jsonschema:"append the text as a new line instead of replacing the note"`
}

type noteRead struct {
	Key string `json:"key,omitempty" jsonschema:"the note to read; default: a list of the notes with their beginnings"`
}

type noteKey struct {
	Key string `json:"key" jsonschema:"the note to delete"`
}

const mostNotes = 50 // in a list

var notes = kind[string]{kindNote, func(r *record[string]) item { return item{Key: r.key, Text: r.Body} }}

// Notes returns the tools for a session's notes, which compaction doesn't remove: notes.write,
// notes.read, notes.delete.
func (m *Toolset) Notes() []tools.Tool {
	return []tools.Tool{
		writer("notes.write", "Stores a note for the rest of this session, outside of the conversation: findings, "+
			"decisions, next steps. A note with the same key is replaced, or extended with append. Never store "+
			"secrets.", "", tools.Low, m.writeNote),
		reader("notes.read", "Reads a note of this session by its key, or lists the notes, the newest 50 with their "+
			"beginnings.", "", func(ctx context.Context, in noteRead) (list, error) {
			return notes.find(ctx, m, in.Key, "", mostNotes)
		}),
		writer("notes.delete", "Deletes a note of this session that is no longer needed.", "", tools.Low,
			func(ctx context.Context, in noteKey) (deletion, error) { return m.remove(ctx, kindNote, in.Key, 0) }),
	}
}

func (m *Toolset) writeNote(ctx context.Context, in noteWrite) (saved, error) {
	key, text, redacted, err := m.cleanEntry(in.Key, in.Text)
	if err != nil {
		return saved{}, err
	}
	out, _, err := notes.save(ctx, m, key, redacted, func(r *record[string], found bool, out *saved) {
		switch {
		case !found:
			out.Status, r.Body = "created", text
		case in.Append:
			whole := r.Body + "\n" + text
			r.Body = strings.ToValidUTF8(m.redact(whole), "\uFFFD") // a secret may be split between two calls
			out.Status, out.Redacted = "appended", redacted || r.Body != whole
		default:
			out.Status, r.Body = "replaced", text
		}
	})
	return out, err
}
