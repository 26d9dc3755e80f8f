package model

import (
	"slices"
	"strings"
	"unicode"
)

// A token is a word, a quoted text or a punctuation mark.
type token struct {
	text   string
	quoted bool
}

// is reports whether the token is one of these words, ignoring case. A quoted text never is.
func (t token) is(words ...string) bool {
	return !t.quoted && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t.text) })
}

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'", "`", "'")

// scan splits a text into tokens. Marks are , ; : . and 's.
func scan(text string) []token {
	var toks []token
	rest := strings.TrimSpace(quotes.Replace(text))
	for rest != "" {
		if q := rest[0]; q == '"' || q == '\'' {
			if end := closing(rest, q); end > 0 {
				toks = append(toks, token{strings.TrimSpace(rest[1:end]), true})
				rest = strings.TrimSpace(rest[end+1:])
				continue
			}
		}
		n := strings.IndexFunc(rest, unicode.IsSpace)
		if n < 0 {
			n = len(rest)
		}
		if i := strings.IndexByte(rest[:n], '"'); i > 0 && closing(rest[i:], '"') > 0 { // slug:"x"
			n = i
		}
		toks = append(toks, word(rest[:n])...)
		rest = strings.TrimSpace(rest[n:])
	}
	return toks
}

// closing returns the index of the closing quote of text, or 0. A closing quote is followed by no letter.
func closing(text string, q byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != q {
			continue
		}
		if q == '"' || i+1 == len(text) || strings.IndexByte(" \t\n,;:.!?", text[i+1]) >= 0 {
			return i
		}
	}
	return 0
}

// word splits the marks from a word.
func word(w string) []token {
	var marks []token
	for len(w) > 1 || w == "." || w == "!" || w == "?" {
		last := w[len(w)-1]
		if strings.IndexByte(",;:", last) < 0 && strings.IndexByte(".!?", last) < 0 {
			break
		}
		mark := string(last)
		if strings.IndexByte(".!?", last) >= 0 {
			mark = "."
		}
		marks = append([]token{{text: mark}}, marks...)
		w = w[:len(w)-1]
	}
	if w == "" {
		return marks
	}
	if owner, ok := strings.CutSuffix(w, "'s"); ok && owner != "" && !strings.EqualFold(owner, "let") {
		return append([]token{{text: owner}, {text: "'s"}}, marks...)
	}
	return append([]token{{text: w}}, marks...)
}

// verbs start a request.
var verbs = []string{"create", "make", "build", "add", "write", "list", "show", "get", "open", "read", "display", "describe", "preview", "render",
	"find", "search", "locate", "rename", "change", "set", "update", "edit", "delete", "remove", "drop", "hide", "publish", "unpublish", "look"}

// clauses splits a text into requests: at full stops and semicolons, at "then", and at "and" before a verb.
func clauses(text string) [][]token {
	var all [][]token
	var now []token
	end := func() {
		for len(now) > 0 && now[len(now)-1].is("and", ",", "then") {
			now = now[:len(now)-1]
		}
		if now = polite(now); len(now) > 0 {
			all = append(all, now)
		}
		now = nil
	}
	toks := scan(text)
	for i, t := range toks {
		switch {
		case t.is(".", ";", "then"):
			end()
		case t.is("and", ",") && i+1 < len(toks) && toks[i+1].is(verbs...):
			end()
		default:
			now = append(now, t)
		}
	}
	end()
	return all
}

// polite removes polite words at both ends.
func polite(toks []token) []token {
	leads := [][]string{{"please"}, {"kindly"}, {"now"}, {"also"}, {"and"}, {"ok"}, {"okay"}, {","}, {"can", "you"}, {"could", "you"}, {"would", "you"},
		{"will", "you"}, {"i", "want", "you", "to"}, {"i", "want", "to"}, {"i'd", "like", "you", "to"}, {"i'd", "like", "to"},
		{"i", "would", "like", "you", "to"}, {"i", "would", "like", "to"}, {"let's"}, {"let", "us"}, {"go", "ahead"}, {"you", "may"}}
	tails := [][]string{{"please"}, {"now"}, {"thanks"}, {"thank", "you"}, {"for", "me"}, {"instead"}, {"rather"}, {","}, {":"}}
	for again := true; again; {
		again = false
		for _, l := range leads {
			if len(toks) > len(l) && matches(toks[:len(l)], l) {
				toks, again = toks[len(l):], true
			}
		}
		for _, l := range tails {
			if len(toks) > len(l) && matches(toks[len(toks)-len(l):], l) {
				toks, again = toks[:len(toks)-len(l)], true
			}
		}
	}
	return toks
}

func matches(toks []token, words []string) bool {
	return slices.EqualFunc(toks, words, func(t token, w string) bool { return t.is(w) })
}

// plain returns tokens as text again.
func plain(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && !t.is(",", ":", "'s") {
			b.WriteByte(' ')
		}
		if t.quoted {
			b.WriteString(`"` + t.text + `"`)
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}
