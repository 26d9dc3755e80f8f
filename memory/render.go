package memory

import (
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// render writes a group as text for a reader: who said what, calls and results. each limits a text
// in bytes; 0: all.
func render(w *textWriter, g *Group, each int) {
	short := func(s string) string {
		if each > 0 && len(s) > each {
			return cut.Start(s, each*2/3) + " […] " + cut.End(s, each/3)
		}
		return s
	}
	for i := range g.Messages {
		m := &g.Messages[i]
		for j := range m.Parts {
			switch p := &m.Parts[j]; {
			case p.Call != nil:
				w.line("call " + p.Call.Name + " " + short(string(p.Call.Input)+p.Call.Invalid))
			case p.Result != nil:
				how := "result of "
				if p.Result.Error {
					how = "failure of "
				}
				var inner textWriter
				inner.parts(p.Result.Parts, maxNesting)
				w.line(how + p.Result.Name + ": " + short(inner.String()))
			case p.Media != nil && isText(p.Media):
				w.line(string(m.Role) + ": " + mediaText(p.Media))
				w.line(short(strings.TrimSpace(string(p.Media.Data))))
			case p.Media != nil:
				w.line(string(m.Role) + ": " + mediaText(p.Media))
			case p.Text != "" && p.Kind != provider.PartReasoning:
				w.line(string(m.Role) + ": " + short(strings.TrimSpace(p.Text)))
			}
		}
	}
}
