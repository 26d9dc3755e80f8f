package recall

import (
	"context"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// category is that of all tools of the package.
const category = "memory"

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

// A saved is the result of a tool that writes.
type saved struct {
	Key      string `json:"key"`
	Status   string `json:"status"` // created, replaced, appended or already done
	Version  int64  `json:"version"`
	Redacted bool   `json:"redacted,omitempty"` // a secret was removed from the text
}

const alreadyDone = "already done"

type note struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // there is more: read it by its key
}

type noteList struct {
	About string `json:"about,omitempty"`
	Notes []note `json:"notes"`
	Found bool   `json:"found"`
	More  int    `json:"more,omitempty"` // number of older notes that aren't in the list
}

const mostNotes = 50 // in a list

// Notes returns the tools for a session's notes, which compaction doesn't remove: notes.write,
// notes.read, notes.delete.
func (m *Memory) Notes() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "notes.write", Category: category, Idempotent: true,
			Description: "Stores a note for the rest of this session, outside of the conversation: findings, " +
				"decisions, next steps. " +
				"A note with the same key is replaced, or extended with append. Never store secrets.",
		}, m.writeNote),
		tools.New(tools.Spec{
			Name: "notes.read", Category: category, ReadOnly: true,
			Description: "Reads a note of this session by its key, or lists the notes, the newest 50 with their " +
				"beginnings.",
		}, m.readNotes),
		tools.New(tools.Spec{
			Name: "notes.delete", Category: category, Idempotent: true,
			Description: "Deletes a note of this session that is no longer needed.",
		}, func(ctx context.Context, in noteKey) (deletion, error) { return m.remove(ctx, kindNote, in.Key, 0) }),
	}
}

func (m *Memory) writeNote(ctx context.Context, in noteWrite) (saved, error) {
	key, err := m.cleanKey(in.Key)
	if err != nil {
		return saved{}, err
	}
	text, redacted, err := m.clean("text", in.Text)
	if err != nil {
		return saved{}, err
	}
	out := saved{Key: key, Redacted: redacted}
	r, done, err := update(ctx, m, kindNote, key, func(r *record[string], found bool) (bool, error) {
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
		return true, nil
	})
	if err != nil {
		return saved{}, err
	}
	if done {
		out.Status = alreadyDone
	}
	out.Version = r.version
	return out, nil
}

func (m *Memory) readNotes(ctx context.Context, in noteRead) (noteList, error) {
	out := noteList{Notes: []note{}}
	if in.Key != "" {
		key, err := m.cleanKey(in.Key)
		if err != nil {
			return noteList{}, err
		}
		r, err := load[string](ctx, m, kindNote, key)
		if err != nil || r == nil {
			return out, err
		}
		return noteList{About: about, Found: true, Notes: []note{{Key: r.key, Text: r.Body}}}, nil
	}
	all, err := loadAll[string](ctx, m, kindNote)
	if err != nil || len(all) == 0 {
		return out, err
	}
	out.About, out.Found = about, true
	out.More = max(len(all)-mostNotes, 0)
	for _, r := range all[:len(all)-out.More] {
		text, cut := short(r.Body)
		out.Notes = append(out.Notes, note{Key: r.key, Text: text, Cut: cut})
	}
	return out, nil
}

// invalid returns an error that the model can correct.
func invalid(text string) error { return fault.New(fault.Invalid, "recall: "+text) }
