package page

import (
	"maps"
	"slices"
	"strings"
)

// A reply is the reply in progress.
type reply struct {
	group string
	parts map[int]*textPart
}

// A textPart is a text of the reply, as far as it has come and was sent.
type textPart struct {
	text  strings.Builder
	sent  []string // the pieces that the page has; only the last can change
	done  int      // bytes of the pieces before the last
	shown int      // how long text was when it was last sent
}

// resendAll is how long an unfinished piece may be that is sent again whenever it grows. A longer
// one is sent when it has grown by a sixteenth, so that the cost stays proportional to the length.
const resendAll = 4 << 10

// due returns the change that shows the page what has come since the last one, or nil.
func (p *textPart) due(id string) *Patch {
	all := p.text.String()
	if grown := len(all) - p.shown; grown == 0 || len(all)-p.done > resendAll && grown < (len(all)-p.done)/16 {
		return nil
	}
	p.shown = len(all)
	lines := strings.LastIndexByte(all, '\n') + 1
	next := pieces(all[p.done:max(lines, p.done)]) // a line that isn't complete may still become anything
	if rest := all[max(lines, p.done):]; len(next) == 0 {
		next = []string{rest}
	} else {
		next[len(next)-1] += rest
	}
	return p.change(id, append(slices.Clone(p.sent[:max(len(p.sent)-1, 0)]), next...))
}

// change returns the change from what the page has to these pieces.
func (p *textPart) change(id string, now []string) *Patch {
	from := 0
	for from < len(now) && from < len(p.sent) && now[from] == p.sent[from] {
		from++
	}
	if from == len(now) && from == len(p.sent) {
		return nil
	}
	p.sent, p.done = now, 0
	for _, piece := range now[:max(len(now)-1, 0)] {
		p.done += len(piece)
	}
	html := make([]string, 0, len(now)-from)
	for _, piece := range now[from:] {
		html = append(html, render(piece))
	}
	return &Patch{Blocks: &Blocks{ID: id, From: from, HTML: html}}
}

// Blocks replace the HTML blocks of a text from one on.
type Blocks struct {
	ID   string   `json:"id"`
	From int      `json:"from"`
	HTML []string `json:"html"`
}

// due returns the changes of all texts.
func (r *reply) due() (out []Patch) {
	for _, i := range slices.Sorted(maps.Keys(r.parts)) {
		if change := r.parts[i].due(partID(r.group, i)); change != nil {
			out = append(out, *change)
		}
	}
	return out
}
