package recall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/tools"
)

type mistakeReport struct {
	Pattern string `json:"pattern" jsonschema:"what was done that went wrong, in general words"`
	Error   string `json:"error" jsonschema:"what happened"`
	Fix     string `json:"fix" jsonschema:"what to do instead"`
}

type mistakeCheck struct {
	Approach string `json:"approach,omitempty" jsonschema:"what you are about to do; default: the newest mistakes"`
	Limit    int    `json:"limit,omitempty" jsonschema:"largest number of mistakes to show; default 10, at most 50"`
}

type mistakeID struct {
	ID string `json:"id" jsonschema:"the id that mistakes.check returns"`
}

// A mistake is the body of an entry. Its key is derived from the pattern, without case and blanks.
type mistake struct {
	Pattern     string `json:"pattern"`
	Error       string `json:"error"`
	Fix         string `json:"fix"`
	Confidence  int    `json:"confidence"` // in hundredths
	Occurrences int    `json:"occurrences"`
}

const mistakeFirst = 70

// again returns the confidence after another report: a third of the distance to 1 is added.
func again(confidence int) int { return confidence + (100-confidence)/3 }

type mistakeSaved struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"` // created, merged or already done
	Occurrences int     `json:"occurrences"`
	Confidence  float64 `json:"confidence"`
	Redacted    bool    `json:"redacted,omitempty"`
}

type warning struct {
	ID          string  `json:"id"`
	Pattern     string  `json:"pattern"`
	Error       string  `json:"error"`
	Fix         string  `json:"fix"`
	Occurrences int     `json:"occurrences"`
	Confidence  float64 `json:"confidence"`
}

type warnings struct {
	About    string    `json:"about"`
	Warnings []warning `json:"warnings"`
	Total    int       `json:"total"`
}

// Mistakes returns the tools for a tenant's mistakes and their fixes: mistakes.report,
// mistakes.check, mistakes.delete.
//
// The first report of a mistake has a confidence of 0.70; each further one adds a third of the
// distance to 1, rounded down to hundredths (0.80, 0.86, 0.90, …, at most 0.98). The newest error
// and fix are kept. Each text has at most 600 bytes.
func (m *Memory) Mistakes() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "mistakes.report", Category: category, Idempotent: true,
			Description: "Stores a mistake and its fix for later sessions. A repeated report raises its confidence.",
		}, m.reportMistake),
		tools.New(tools.Spec{
			Name: "mistakes.check", Category: category, ReadOnly: true,
			Description: "Returns known mistakes that are similar to what you are about to do, and their fixes.",
			Schema:      []byte(`{"properties":{"limit":{"minimum":1,"maximum":50}}}`),
		}, m.checkMistakes),
		tools.New(tools.Spec{
			Name: "mistakes.delete", Category: category, Idempotent: true, Risk: tools.Medium,
			Description: "Deletes a known mistake whose fix turned out wrong.",
		}, func(ctx context.Context, in mistakeID) (deletion, error) { return m.remove(ctx, kindMistake, in.ID, 0) }),
	}
}

func (m *Memory) reportMistake(ctx context.Context, in mistakeReport) (mistakeSaved, error) {
	var texts [3]string
	redacted := false
	for i, t := range []struct{ what, text string }{{"pattern", in.Pattern}, {"error", in.Error}, {"fix", in.Fix}} {
		text, changed, err := m.brief(t.what, t.text)
		if err != nil {
			return mistakeSaved{}, err
		}
		texts[i], redacted = text, redacted || changed
	}
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.ToLower(texts[0])), " ")))
	key := hex.EncodeToString(sum[:6])
	status := ""
	r, done, err := update(ctx, m, kindMistake, key, func(r *record[mistake], found bool) (bool, error) {
		if found {
			status = "merged"
			r.Body.Confidence = again(r.Body.Confidence)
		} else {
			status = "created"
			r.Body.Confidence, r.Body.Pattern = mistakeFirst, texts[0]
		}
		r.Body.Error, r.Body.Fix = texts[1], texts[2]
		r.Body.Occurrences++
		return true, nil
	})
	if err != nil {
		return mistakeSaved{}, err
	}
	if done {
		status = alreadyDone
	}
	return mistakeSaved{ID: key, Status: status, Occurrences: r.Body.Occurrences,
		Confidence: hundredths(r.Body.Confidence), Redacted: redacted}, nil
}

func (m *Memory) checkMistakes(ctx context.Context, in mistakeCheck) (warnings, error) {
	all, err := loadAll[mistake](ctx, m, kindMistake)
	if err != nil {
		return warnings{}, err
	}
	list, total := best(all, in.Approach, in.Limit, func(r *record[mistake]) string {
		return r.Body.Pattern + "\n" + r.Body.Error
	})
	out := warnings{About: about, Warnings: []warning{}, Total: total}
	if total == 0 {
		out.About = "no known mistake is similar; that doesn't mean that it is safe"
	}
	for _, r := range list {
		b := &r.Body
		out.Warnings = append(out.Warnings, warning{ID: r.key, Pattern: b.Pattern, Error: b.Error, Fix: b.Fix,
			Occurrences: b.Occurrences, Confidence: hundredths(b.Confidence)})
	}
	return out, nil
}

// hundredths returns a confidence as it is shown.
func hundredths(n int) float64 { return float64(n) / 100 }
