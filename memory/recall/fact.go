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

type fact struct {
	Key     string `json:"key"`
	Version int64  `json:"version"`
	Updated string `json:"updated"` // a day
	Text    string `json:"text"`
	Cut     bool   `json:"cut,omitempty"`
}

func factOf(r *record[string], whole bool) fact {
	f := fact{Key: r.key, Version: r.version, Updated: r.Updated.Format("2006-01-02"), Text: r.Body}
	if !whole {
		f.Text, f.Cut = short(r.Body)
	}
	return f
}

type factSaved struct {
	Key      string `json:"key"`
	Status   string `json:"status"` // created, replaced, already done, or not saved
	Version  int64  `json:"version,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
	Why      string `json:"why,omitempty"`
	About    string `json:"about,omitempty"`
	Current  *fact  `json:"current,omitempty"` // the fact that has this key
}

type factList struct {
	About string `json:"about,omitempty"`
	Facts []fact `json:"facts"`
	Total int    `json:"total"` // number of facts found
}

// Facts returns the tools for facts that a tenant knows across sessions: facts.save, facts.find,
// facts.delete. A fact is replaced or deleted only by a call that names the version that it has
// read, so that no session unknowingly undoes another one's change.
func (m *Memory) Facts() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "facts.save", Category: category, Idempotent: true, Risk: tools.Medium,
			Description: "Stores a fact for all later sessions, such as how something is built, named or decided. To " +
				"replace a fact, " +
				"give the version that you read. Save only facts that are certain and lasting; never secrets.",
			Schema: []byte(`{"properties":{"version":{"minimum":0}}}`),
		}, m.saveFact),
		tools.New(tools.Spec{
			Name: "facts.find", Category: category, ReadOnly: true,
			Description: "Finds facts of earlier sessions by words, or one by its key.",
			Schema:      []byte(`{"properties":{"limit":{"minimum":1,"maximum":50}}}`),
		}, m.findFacts),
		tools.New(tools.Spec{
			Name: "facts.delete", Category: category, Idempotent: true, Risk: tools.Medium,
			Description: "Deletes a fact that is wrong or outdated. Give the version that you read.",
			Schema:      []byte(`{"properties":{"version":{"minimum":1}}}`),
		}, func(ctx context.Context, in factDelete) (deletion, error) {
			if in.Version <= 0 {
				return deletion{}, invalid("name the version of the fact that you read")
			}
			return m.remove(ctx, kindFact, in.Key, in.Version)
		}),
	}
}

func (m *Memory) saveFact(ctx context.Context, in factSave) (factSaved, error) {
	key, err := m.cleanKey(in.Key)
	if err != nil {
		return factSaved{}, err
	}
	text, redacted, err := m.clean("text", in.Text)
	if err != nil {
		return factSaved{}, err
	}
	var out factSaved
	r, done, err := update(ctx, m, kindFact, key, func(r *record[string], found bool) (bool, error) {
		out = factSaved{Key: key, Redacted: redacted}
		switch {
		case found && r.Body == text:
			out.Status = alreadyDone
			return false, nil
		case r.version != in.Version:
			out.Status = "not saved"
			if !found {
				out.Why = "the fact was deleted; leave the version out to save it again"
				return false, nil
			}
			now := factOf(r, true)
			out.Why, out.About, out.Current = "there is a fact under this key; give its version to replace it", about,
				&now
			return false, nil
		case found:
			out.Status = "replaced"
		default:
			out.Status = "created"
		}
		r.Body = text
		return true, nil
	})
	if err != nil {
		return factSaved{}, err
	}
	if done {
		out = factSaved{Key: key, Redacted: redacted, Status: alreadyDone}
	}
	if out.Current == nil {
		out.Version = r.version
	}
	return out, nil
}

func (m *Memory) findFacts(ctx context.Context, in factFind) (factList, error) {
	out := factList{Facts: []fact{}}
	if in.Key != "" {
		key, err := m.cleanKey(in.Key)
		if err != nil {
			return factList{}, err
		}
		r, err := load[string](ctx, m, kindFact, key)
		if err != nil || r == nil {
			return out, err
		}
		return factList{About: about, Facts: []fact{factOf(r, true)}, Total: 1}, nil
	}
	all, err := loadAll[string](ctx, m, kindFact)
	if err != nil {
		return factList{}, err
	}
	list, total := best(all, in.Query, in.Limit, func(r *record[string]) string { return r.key + "\n" + r.Body })
	if total == 0 {
		return out, nil
	}
	out.About, out.Total = about, total
	for _, r := range list {
		out.Facts = append(out.Facts, factOf(r, false))
	}
	return out, nil
}
