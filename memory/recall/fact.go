package recall

import (
	"context"

	"github.com/pawlkit/pawl/tools"
)

type factSave struct {
	Key     string `json:"key" jsonschema:"what the fact is about, for example deploy.command"`
	Text    string `json:"text" jsonschema:"the fact, in a sentence or two"`
	Version int64  `json:"version,omitempty" jsonschema:"to replace a fact: the version that you read"`
}

type factFind struct {
	Query string `json:"query,omitempty" jsonschema:"words to search for; default: the newest facts"`
	Key   string `json:"key,omitempty" jsonschema:"instead of a query: the key of one fact, which is shown whole"`
	Limit int    `json:"limit,omitempty" jsonschema:"largest number of facts to show; default 10, at most 50"`
}

type factDelete struct {
	Key     string `json:"key" jsonschema:"the fact to delete"`
	Version int64  `json:"version" jsonschema:"the version that you read"`
}

var facts = kind[string]{kindFact, func(r *record[string]) item {
	return item{Key: r.key, Version: r.version, Updated: r.Updated.Format("2006-01-02"), Text: r.Body}
}}

// Facts returns the tools for facts that a tenant knows across sessions: facts.save, facts.find,
// facts.delete. A fact is replaced or deleted only by a call that names the version that it has
// read, so that no session unknowingly undoes another one's change.
func (m *Toolset) Facts() []tools.Tool {
	return []tools.Tool{
		writer("facts.save", "Stores a fact for all later sessions, such as how something is built, named or decided. "+
			"To replace a fact, give the version that you read. Save only facts that are certain and lasting; never "+
			"secrets.",
			`{"properties":{"version":{"minimum":0}}}`, tools.Medium, m.saveFact),
		reader("facts.find", "Finds facts of earlier sessions by words, or one by its key.", limited,
			func(ctx context.Context, in factFind) (list, error) {
				return facts.find(ctx, m, in.Key, in.Query, in.Limit)
			}),
		writer("facts.delete", "Deletes a fact that is wrong or outdated. Give the version that you read.",
			`{"properties":{"version":{"minimum":1}}}`, tools.Medium,
			func(ctx context.Context, in factDelete) (deletion, error) {
				return m.remove(ctx, kindFact, in.Key, in.Version)
			}),
	}
}

func (m *Toolset) saveFact(ctx context.Context, in factSave) (saved, error) {
	key, text, redacted, err := m.cleanEntry(in.Key, in.Text)
	if err != nil {
		return saved{}, err
	}
	out, r, err := facts.save(ctx, m, key, redacted, func(r *record[string], found bool, out *saved) {
		switch {
		case found && r.Body == text:
			out.Status = alreadyDone
		case !found && in.Version != 0:
			out.Status, out.Why = notSaved, "the fact was deleted; leave the version out to save it again"
		case r.version != in.Version:
			out.Status, out.Why = notSaved, "there is a fact under this key; give its version to replace it"
		case found:
			out.Status, r.Body = "replaced", text
		default:
			out.Status, r.Body = "created", text
		}
	})
	if err == nil && out.Status == notSaved && r.version > 0 {
		out = facts.current(out, r)
	}
	return out, err
}
