package providertest

import (
	"encoding/base64"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// text returns a text of the length, the format and the pattern that a schema asks for.
func (m *maker) text(s map[string]any) (string, error) {
	least, most := limit(s, "minLength", 0), limit(s, "maxLength", 1<<20)
	if pattern, ok := s["pattern"].(string); ok {
		return m.matching(pattern, least, most)
	}
	if format, ok := s["format"].(string); ok {
		if text, ok := m.formatted(format); ok {
			return text, nil
		}
	}
	if least > 1<<20 {
		return "", fmt.Errorf("its schema asks for %d characters", least)
	}
	words := []string{"Oslo", "two words", "Zoë", "a", "x-1", "日本"}
	text := words[m.rand.IntN(len(words))]
	for utf8.RuneCountInString(text) < least {
		text += words[m.rand.IntN(len(words))]
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most])
	}
	if s["contentEncoding"] == "base64" {
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}
	return text, nil
}

// formatted returns a text of a format that JSON Schema names.
func (m *maker) formatted(format string) (string, bool) {
	day := fmt.Sprintf("20%02d-%02d-%02d", m.rand.IntN(100), 1+m.rand.IntN(12), 1+m.rand.IntN(28))
	clock := fmt.Sprintf("%02d:%02d:%02dZ", m.rand.IntN(24), m.rand.IntN(60), m.rand.IntN(60))
	n := m.rand.IntN(250) + 1
	switch format {
	case "date-time":
		return day + "T" + clock, true
	case "date":
		return day, true
	case "time":
		return clock, true
	case "duration":
		return fmt.Sprintf("PT%dS", n), true
	case "email", "idn-email":
		return fmt.Sprintf("user%d@example.com", n), true
	case "hostname", "idn-hostname":
		return fmt.Sprintf("host%d.example.com", n), true
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", n), true
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", n), true
	case "uri", "iri", "uri-reference", "iri-reference", "uri-template":
		return fmt.Sprintf("https://example.com/%d", n), true
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", m.rand.Uint32(), n, n, n, n), true
	case "json-pointer":
		return fmt.Sprintf("/%d", n), true
	case "relative-json-pointer":
		return fmt.Sprintf("%d/a", n), true
	case "regex":
		return "^a+$", true
	}
	return "", false
}

// matching returns a text that a pattern matches, of a length within bounds if one is found.
func (m *maker) matching(pattern string, least, most int) (text string, err error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("its pattern isn't understood: %w", err)
	}
	for range 50 {
		var b strings.Builder
		m.write(&b, tree, min(max(least, 3), 200))
		if text = b.String(); utf8.RuneCountInString(text) >= least && utf8.RuneCountInString(text) <= most {
			return text, nil
		}
	}
	return text, nil
}

// write appends a text that matches a part of a pattern. more bounds how often what has no bound is
// repeated beyond its least.
func (m *maker) write(b *strings.Builder, re *syntax.Regexp, more int) {
	repeat := func(least, most int) {
		if most < 0 {
			most = least + more
		}
		for range least + m.rand.IntN(most-least+1) {
			m.write(b, re.Sub[0], more)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		m.writeRune(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + m.rand.IntN(26)))
	case syntax.OpCapture:
		m.write(b, re.Sub[0], more)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			m.write(b, sub, more)
		}
	case syntax.OpAlternate:
		m.write(b, re.Sub[m.rand.IntN(len(re.Sub))], more)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
}

// writeRune appends a character of a class, an ASCII one that can be seen if the class has any.
func (m *maker) writeRune(b *strings.Builder, class []rune) {
	var plain []rune
	for i := 0; i+1 < len(class); i += 2 {
		for r := max(class[i], '!'); r <= min(class[i+1], '~'); r++ {
			plain = append(plain, r)
		}
	}
	switch {
	case len(plain) > 0:
		b.WriteRune(plain[m.rand.IntN(len(plain))])
	case len(class) > 1:
		b.WriteRune(class[0])
	}
}
