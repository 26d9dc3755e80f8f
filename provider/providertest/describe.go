package providertest

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// Transcript returns messages as text to read, to print and to compare with a file: a line for each
// part, without the ids of calls and opaque data, so that two runs that do the same give the same.
// Further lines of a text are indented.
//
//	user: How cold is it in Oslo?
//	assistant: Let me see.
//	assistant calls weather {"city":"Oslo"}
//	result of weather: 3 °C
//	assistant: Cold.
func Transcript(messages []provider.Message) string {
	var b strings.Builder
	for i := range messages {
		for _, line := range transcript(&messages[i]) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// transcript returns what a message holds, each part on a line of its own.
func transcript(m *provider.Message) (lines []string) {
	for i := range m.Parts {
		p, line := &m.Parts[i], ""
		switch p.Kind {
		case provider.PartText:
			line = ": " + p.Text
		case provider.PartReasoning:
			line = " thinks: " + p.Text
		case provider.PartRefusal:
			line = " refuses: " + p.Text
		case provider.PartToolCall:
			line = " calls " + callText(p.Call)
		case provider.PartProviderCall:
			line = " has the provider call " + callText(p.Call)
		case provider.PartToolResult, provider.PartProviderResult:
			lines = append(lines, indent(resultText(p.Result)))
			continue
		case provider.PartMedia:
			line = " shows " + mediaText(p.Media)
		case provider.PartSource:
			line = " cites " + sourceText(p.Source)
		case provider.PartOpaque:
			continue
		default:
			line = fmt.Sprintf(" has a part of kind %q", p.Kind)
		}
		lines = append(lines, indent(string(m.Role)+line))
	}
	return lines
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

func callText(c *provider.ToolCall) string {
	if c == nil {
		return "nothing"
	}
	return strings.TrimSuffix(c.Name+" "+string(c.Input)+c.Invalid, " ")
}

func resultText(r *provider.ToolResult) string {
	if r == nil {
		return "result of nothing"
	}
	texts := []string{r.Text()}
	for i := range r.Parts {
		if r.Parts[i].Media != nil {
			texts = append(texts, "["+mediaText(r.Parts[i].Media)+"]")
		}
	}
	what := "result of "
	if r.Error {
		what = "failed result of "
	}
	return strings.TrimSpace(what + r.Name + ": " + strings.Join(texts, " "))
}

func mediaText(m *provider.Media) string {
	if m == nil {
		return "nothing"
	}
	text := m.Type
	for _, s := range []string{m.Name, m.URL} {
		if s != "" {
			text += " " + s
		}
	}
	if len(m.Data) > 0 {
		text += " of " + count(len(m.Data), "byte")
	}
	return text
}

func sourceText(s *provider.Source) string {
	if s == nil {
		return "nothing"
	}
	return strings.TrimSpace(s.URL + " " + s.Title)
}

// describe says what a request holds, the newest messages a line for each part, for a person who
// reads a failed test.
func describe(r *provider.Request) string {
	lines := []string{"  tools: " + list(toolNames(r))}
	if r.System != "" {
		lines = append(lines, fmt.Sprintf("  system: %q", shorten(r.System, 160)))
	}
	const most = 12
	skipped := max(0, len(r.Messages)-most)
	if skipped > 0 {
		lines = append(lines, "  … "+count(skipped, "message")+" …")
	}
	for i := range r.Messages[skipped:] {
		for _, line := range transcript(&r.Messages[skipped+i]) {
			lines = append(lines, "  "+indent(shorten(line, 320)))
		}
	}
	return strings.Join(lines, "\n")
}

// describeStep says what a step would have answered.
func describeStep(p *play) string {
	var c provider.Collector
	for _, chunk := range p.chunks {
		if c.Add(chunk) != nil {
			break
		}
	}
	m := provider.Message{Role: provider.RoleAssistant, Parts: c.Response().Parts}
	said := shorten(strings.ReplaceAll(strings.Join(transcript(&m), "; "), "\n", " "), 200)
	end := ""
	switch p.ending {
	case failed:
		end = fmt.Sprintf("it fails: %v", p.err)
	case hung:
		end = "it hangs"
	case cut:
		end = "it is cut"
	}
	switch {
	case said == "" && end == "":
		return "an empty reply"
	case said == "":
		return end
	case end == "":
		return said
	}
	return said + "; then " + end
}

func toolNames(r *provider.Request) []string {
	names := make([]string, len(r.Tools))
	for i := range r.Tools {
		names[i] = r.Tools[i].Name
	}
	return names
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return shorten(strings.Join(names, ", "), 400)
}

// shorten returns at most about size bytes of s: its begin and its end.
func shorten(s string, size int) string {
	if len(s) <= size {
		return s
	}
	half := size / 2
	return strings.ToValidUTF8(s[:half], "") + " … " + strings.ToValidUTF8(s[len(s)-half:], "")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// were is "was" or "were".
func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
