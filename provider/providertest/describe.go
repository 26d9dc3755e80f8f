package providertest

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// describe says what a request holds, a line a message, for a person who reads a failed test.
func describe(r *provider.Request) string {
	var b strings.Builder
	if r.System != "" {
		fmt.Fprintf(&b, "  system: %q\n", shorten(r.System, 160))
	}
	fmt.Fprintf(&b, "  tools: %s\n", list(toolNames(r)))
	const most = 12 // the first message, and the newest
	for i := range r.Messages {
		if skipped := len(r.Messages) - most; i > 0 && i <= skipped {
			if i == 1 {
				fmt.Fprintf(&b, "  … %s …\n", count(skipped, "message"))
			}
			continue
		}
		m := &r.Messages[i]
		fmt.Fprintf(&b, "  %s:", m.Role)
		for j := range m.Parts {
			b.WriteString(" " + describePart(&m.Parts[j]))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func describePart(p *provider.Part) string {
	switch {
	case p.Call != nil:
		return fmt.Sprintf("%s %s(%s)", p.Kind, p.Call.Name, shorten(string(p.Call.Input)+p.Call.Invalid, 80))
	case p.Result != nil:
		return fmt.Sprintf("%s %s=%q", p.Kind, p.Result.Name, shorten(p.Result.Text(), 120))
	case p.Kind == provider.PartText:
		return fmt.Sprintf("%q", shorten(p.Text, 120))
	case p.Text != "":
		return fmt.Sprintf("%s %q", p.Kind, shorten(p.Text, 80))
	}
	return string(p.Kind)
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
