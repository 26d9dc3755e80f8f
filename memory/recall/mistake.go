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
	ID string `json:"id" jsonschema:"the key that mistakes.check returns"`
}

// A mistake is the body of an entry. Its key is derived from the pattern, without case and blanks.
type mistake struct {
	Pattern     string `json:"pattern"`
	Error       string `json:"error"`
	Fix         string `json:"fix"`
	Confidence  int    `json:"confidence"` // in hundredths
	Occurrences int    `json:"occurrences"`
}

const mistakeFirst = 70 // hundredths

var mistakes = kind[mistake]{kindMistake, func(r *record[mistake]) item {
	b := &r.Body
	return item{Key: r.key, Pattern: b.Pattern, Error: b.Error, Fix: b.Fix, Occurrences: b.Occurrences,
		Confidence: hundredths(b.Confidence)}
}}

// Mistakes returns the tools for a tenant's mistakes and their fixes: mistakes.report,
// mistakes.check, mistakes.delete.
//
// The first report of a mistake has a confidence of 0.70; each further one adds a third of the
// distance to 1, rounded down to hundredths (0.80, 0.86, 0.90, …, at most 0.98). The newest error
// and fix are kept. Each text has at most 600 bytes.
func (m *Toolset) Mistakes() []tools.Tool {
	return []tools.Tool{
		writer("mistakes.report", "Stores a mistake and its fix for later sessions. A repeated report raises its "+
			"confidence.", "", tools.Low, m.reportMistake),
		reader("mistakes.check", "Returns known mistakes that are similar to what you are about to do, and their "+
			"fixes.", limited, func(ctx context.Context, in mistakeCheck) (list, error) {
			out, err := mistakes.find(ctx, m, "", in.Approach, in.Limit)
			if err == nil && out.Total == 0 {
				out.About = "no known mistake is similar; that doesn't mean that it is safe"
			}
			return out, err
		}),
		writer("mistakes.delete", "Deletes a known mistake whose fix turned out wrong.", "", tools.Medium,
			func(ctx context.Context, in mistakeID) (deletion, error) { return m.remove(ctx, kindMistake, in.ID, 0) }),
	}
}

func (m *Toolset) reportMistake(ctx context.Context, in mistakeReport) (saved, error) {
	redacted := false
	for _, t := range []struct {
		what string
		text *string
	}{{"pattern", &in.Pattern}, {"error", &in.Error}, {"fix", &in.Fix}} {
		text, changed, err := m.brief(t.what, *t.text)
		if err != nil {
			return saved{}, err
		}
		*t.text, redacted = text, redacted || changed
	}
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.ToLower(in.Pattern)), " ")))
	out, r, err := mistakes.save(ctx, m, hex.EncodeToString(sum[:6]), redacted,
		func(r *record[mistake], found bool, out *saved) {
			b := &r.Body
			b.Error, b.Fix = in.Error, in.Fix
			b.Occurrences++
			if found {
				out.Status, b.Confidence = "merged", b.Confidence+(100-b.Confidence)/3
			} else {
				out.Status, b.Confidence, b.Pattern = "created", mistakeFirst, in.Pattern
			}
		})
	if err != nil {
		return saved{}, err
	}
	return mistakes.current(out, r), nil
}

func hundredths(n int) float64 { return float64(n) / 100 }
