package memory

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// textWriter collects texts up to a limit in bytes.
type textWriter struct {
	strings.Builder
	limit int // 0: none
}

func (w *textWriter) line(s string) {
	if s == "" || w.full() {
		return
	}
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	if w.limit > 0 {
		s = cut.Start(s, max(w.limit-w.Len(), 0))
	}
	w.WriteString(s)
}

func (w *textWriter) full() bool { return w.limit > 0 && w.Len() >= w.limit }

func (w *textWriter) parts(parts []provider.Part, depth int) {
	for i := range parts {
		if w.full() {
			return
		}
		p := &parts[i]
		if p.Kind != provider.PartReasoning {
			w.line(p.Text)
		}
		if c := p.Call; c != nil {
			input := string(c.Input) + c.Invalid
			if w.limit > 0 {
				input = cut.Start(input, w.limit)
			}
			w.line(c.Name + " " + input)
		}
		if r := p.Result; r != nil && depth > 0 {
			w.parts(r.Parts, depth-1)
		}
		if m := p.Media; m != nil {
			w.line(mediaText(m))
			if isText(m) {
				w.line(dataText(m, w.limit))
			}
		}
	}
}

// dataText returns the content of a file that is text, of a longer one a little more than limit
// bytes; 0: all.
func dataText(m *provider.Media, limit int) string {
	if limit <= 0 {
		limit = len(m.Data)
	}
	return string(m.Data[:min(limit+utf8.UTFMax, len(m.Data))])
}

// mediaText names a file.
func mediaText(m *provider.Media) string {
	name := m.Name
	for _, other := range []string{m.URL, m.FileID} {
		if name == "" {
			name = cut.Start(other, 200)
		}
	}
	if name == "" {
		return fmt.Sprintf("[%s, %d bytes]", m.Type, len(m.Data))
	}
	return fmt.Sprintf("[%s %q, %d bytes]", m.Type, name, len(m.Data))
}

// CutText cuts text to at most limit tokens by c, notice included: about two thirds from its
// beginning, one third from its end, and between them notice with %d in it replaced by how many
// bytes were left out. Text that fits is returned as it is, and so is what has no room for the
// notice: then the notice comes back alone. It cuts between characters, never within one; of
// invalid UTF-8 nothing is repaired. The second result says whether something was left out.
func CutText(c Counter, text, notice string, limit int) (string, bool) {
	if c == nil {
		c = NewEstimator(provider.ModelInfo{})
	}
	total := c.CountText(text)
	if total <= limit {
		return text, false
	}
	room := len(text)
	if total > 0 {
		room = int(float64(len(text)) * float64(max(limit, 0)) / float64(total))
	}
	for room > 0 {
		first := cut.Start(text, room*2/3)
		last := cut.End(text[len(first):], room-room*2/3)
		out := first + "\n" + said(notice, len(text)-len(first)-len(last)) + "\n" + last
		if n := c.CountText(out); n <= limit && len(out) < len(text) {
			return out, true
		}
		room = room*7/8 - 1
	}
	return said(notice, len(text)), true
}

func said(notice string, left int) string {
	return strings.ReplaceAll(notice, "%d", fmt.Sprint(left))
}

// EscapeMarker breaks what looks like the end of a mark such as </mark>, in whatever case, so that
// a text can't end the mark that it stands in.
func EscapeMarker(text, mark string) string {
	end := regexp.MustCompile("(?i)<(/" + regexp.QuoteMeta(mark) + ")")
	return end.ReplaceAllString(text, "<\u200b$1")
}
