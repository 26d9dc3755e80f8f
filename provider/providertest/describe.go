package providertest

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// describe says what a request holds, the newest messages a line each, for a person who reads a
// failed test.
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
		m := &r.Messages[skipped+i]
		text, err := marshal(m.Parts)
		if err != nil {
			text = err.Error()
		}
		lines = append(lines, "  "+string(m.Role)+": "+shorten(text, 320))
	}
	return strings.Join(lines, "\n")
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
