package standin

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A piece is a text that the stand-in knows: its type, its subject, the words of topics that it
// fits, and its sections.
type piece struct {
	kind, subject string
	words         []string
	sections      []part
}

type part struct{ heading, point, image, body string }

//go:embed pieces
var files embed.FS

var pieces = read()

var section = regexp.MustCompile(`(?s)## ([^\n]+)\npoint: ([^\n]+)\n(?:image: ([^\n]+)\n)?(.*?)(?:\n## |$)`)

// read reads the pieces.
func read() (all []piece) {
	list, _ := files.ReadDir("pieces") // it is embedded
	for _, f := range list {
		text, _ := files.ReadFile("pieces/" + f.Name())
		head, rest, _ := strings.Cut(string(text), "\n")
		fields := strings.SplitN(head, " | ", 3)
		p := piece{kind: fields[0], subject: fields[1], words: strings.Fields(fields[2])}
		for _, s := range strings.Split(rest, "\n## ") {
			m := section.FindStringSubmatch("## " + strings.TrimPrefix(s, "## "))
			p.sections = append(p.sections, part{m[1], m[2], m[3], strings.TrimSpace(m[4])})
		}
		all = append(all, p)
	}
	return all
}

// pieceFor returns the piece of a type that shares most words with a topic, adapted to it. If none
// shares any, the length of the topic decides.
func pieceFor(kind, topic string) piece {
	var fit []piece
	for _, p := range pieces {
		if p.kind == kind || kind == "" {
			fit = append(fit, p)
		}
	}
	words := strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool { return !unicode.IsLetter(r) })
	best, most := fit[len(topic)%len(fit)], 0
	for _, p := range fit {
		n := 0
		for _, w := range words {
			if slices.Contains(p.words, w) {
				n++
			}
		}
		if n > most {
			best, most = p, n
		}
	}
	subject := best.subject
	if len(words) > 0 && len(words) <= 3 {
		subject = lower(topic)
	}
	own := piece{kind: best.kind, subject: subject}
	for _, s := range best.sections {
		adapted := strings.NewReplacer("{topic}", subject)
		own.sections = append(own.sections, part{s.heading, s.point, s.image, adapted.Replace(s.body)})
	}
	return own
}

// lower makes the first letter small, unless the first word is an abbreviation.
func lower(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[1]) {
		return s
	}
	return strings.ToLower(string(r[:1])) + string(r[1:])
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
