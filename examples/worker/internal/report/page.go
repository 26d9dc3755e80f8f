package report

import (
	"context"
	"crypto/sha256"
	_ "embed" // page.css and page.html
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strings"
)

//go:embed page.css
var style string

//go:embed page.html
var html string

// Security is the Content Security Policy of a report: it loads nothing, runs nothing, and has its
// own style alone.
func Security(page string) string {
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>") // all other text of a page is escaped
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.HTML { return template.HTML("<style>" + style + "</style>") },
}).Parse(html))

// page puts the draft and the figures of a report together.
func (k *kit) page(ctx context.Context, session string) (string, error) {
	draft, err := k.Ledger.Artifact(ctx, session, ArtifactDraft)
	drawn, failed := k.Ledger.Artifact(ctx, session, ArtifactFigures)
	if err := errors.Join(err, failed); err != nil {
		return "", err
	}
	var figures []template.HTML // made by this package
	var v struct {
		text
		Figures []template.HTML
	}
	if err := errors.Join(json.Unmarshal([]byte(draft), &v.text), json.Unmarshal([]byte(drawn), &figures)); err != nil {
		return "", fmt.Errorf("the draft and the figures have to be made first: %w", err)
	}
	v.Figures = make([]template.HTML, len(v.Sections))
	copy(v.Figures, figures)
	var b strings.Builder
	err = pageTemplate.Execute(&b, v)
	return b.String(), err
}

// bars draws five shares.
func bars(of string) string {
	var b strings.Builder
	b.WriteString(`<svg viewBox="0 0 600 220" role="img" aria-label="Interest by age, in percent">`)
	for i, name := range []string{"under 20", "20 to 34", "35 to 49", "50 to 64", "over 64"} {
		share := 15 + 70*random("bars", of, i)
		y := 8 + 42*i
		fmt.Fprintf(&b, `<text x="0" y="%d">%s</text><rect class="bar" x="80" y="%d" width="%.0f" height="24" rx="3"/>`+
			`<text class="value" x="%.0f" y="%d">%.0f %%</text>`, y+17, name, y, 4.6*share, 88+4.6*share, y+17, share)
	}
	b.WriteString(`</svg><figcaption>Interest by age, in percent.</figcaption>`)
	return b.String()
}

// curve draws ten years.
func curve(of string) string {
	var b, line strings.Builder
	b.WriteString(`<svg viewBox="0 0 600 240" role="img" aria-label="Mentions in ten years">`)
	level := 40 + 40*random("curve", of)
	var dots strings.Builder
	for i := range 10 {
		level = min(175, max(10, level+45*random("curve", of, i)-16))
		x, y := 24+61*i, 200-level
		fmt.Fprintf(&line, "%d,%.0f ", x, y)
		fmt.Fprintf(&dots, `<circle class="dot" cx="%d" cy="%.0f" r="4"/>`, x, y)
		fmt.Fprintf(&b, `<text x="%d" y="226" text-anchor="middle">%d</text>`, x, i+1)
	}
	fmt.Fprintf(&b, `<polyline class="curve" points="%s"/>%s</svg><figcaption>Mentions by year, as an index.</figcaption>`,
		strings.TrimSpace(line.String()), dots.String())
	return b.String()
}
