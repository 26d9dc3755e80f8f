package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strings"
)

const style = `
:root { color-scheme: light dark; --ink: #1b1b22; --soft: #5a5a68; --line: #dddde5; --paper: #fff; --a: #3d4db7; --b: #b5651d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf2; --soft: #a8a8b8; --line: #34343f; --paper: #17171c; --a: #a3afff; --b: #e9a765; }
}
body { margin: 0 auto; padding: 32px 24px; max-width: 40rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 Georgia, "Noto Serif", serif; }
h1 { margin: 0 0 8px; font-size: 2rem; line-height: 1.15; text-wrap: balance; }
h2 { margin: 32px 0 8px; font-size: 1.25rem; line-height: 1.25; }
.lead { margin: 0 0 24px; font-size: 1.125rem; color: var(--soft); }
figure { margin: 24px 0; }
figcaption, footer { font: .8125rem/1.5 system-ui, sans-serif; color: var(--soft); }
footer { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--line); }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--soft); } .grid { stroke: var(--line); } .bar { fill: var(--a); } .value { fill: var(--ink); }
.curve { fill: none; stroke: var(--b); stroke-width: 3; stroke-linejoin: round; } .dot { fill: var(--b); }
`

// Security is the Content Security Policy of a report: it loads nothing, runs nothing, and has this
// style alone.
var Security = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
}()

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.HTML { return "<style>" + style + "</style>" },
}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
{{style}}
<h1>{{.Title}}</h1>
<p class="lead">{{.Lead}}</p>
{{range $i, $s := .Sections}}<h2>{{.Title}}</h2>
{{range .Paragraphs}}<p>{{.}}</p>
{{end}}{{with index $.Figures $i}}<figure>{{.}}</figure>
{{end}}{{end}}<footer>Written by a stand-in for a model. Its words and figures are made up.</footer>
</html>
`))

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
	for y := 20; y <= 200; y += 60 {
		fmt.Fprintf(&b, `<line class="grid" x1="0" x2="600" y1="%d" y2="%d"/>`, y, y)
	}
	level := 40 + 40*random("curve", of)
	var dots strings.Builder
	for i := range 10 {
		level = min(175, max(10, level+45*random("curve", of, i)-16))
		x, y := 24+61*i, 200-level
		fmt.Fprintf(&line, "%d,%.0f ", x, y)
		fmt.Fprintf(&dots, `<circle class="dot" cx="%d" cy="%.0f" r="4"/>`, x, y)
		if i%3 == 0 {
			fmt.Fprintf(&b, `<text x="%d" y="226" text-anchor="middle">year %d</text>`, x, i+1)
		}
	}
	fmt.Fprintf(&b, `<polyline class="curve" points="%s"/>%s</svg><figcaption>Mentions in ten years, as an index.</figcaption>`,
		strings.TrimSpace(line.String()), dots.String())
	return b.String()
}
