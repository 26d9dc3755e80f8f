package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An inquiry is a kind of question: its words, and its answer.
type inquiry struct{ Words, Answer, De string }

// question answers a question. It never changes anything.
func (t *turn) question(s *sentence) move {
	var tokens []token
	said := " "
	for _, k := range s.tokens {
		if k.class != "quote" {
			said += plain(k.text) + " "
		}
		if _, ask := vocabulary.questions[plain(k.text)]; !ask && k.class != "conj" && k.class != "if" &&
			k.class != "neg" {
			tokens = append(tokens, k)
		}
	}
	w := parse(t.text, tokens, "")
	w.bad = false
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, " "+word+" ") })
	}
	list := func(of string) move {
		o, p := t.plan(&wish{verb: "list", noun: of, plural: true}, nil)
		if p != nil {
			return move{text: p.String()}
		}
		return t.carryOut([]*operation{o})
	}
	for _, q := range table.Questions {
		if has(strings.Split(q.Words, "|")...) {
			if t.german && q.De != "" {
				return move{text: q.De}
			}
			return move{text: q.Answer}
		}
	}
	var page *pageRead
	if w.ref.text != "" && w.noun != "media" && w.field != "picture" {
		it, _, p := t.subject(&wish{verb: "show", ref: w.ref, noun: w.noun}, nil)
		if p != nil {
			return move{text: p.String()}
		}
		if it.Kind == "page" {
			var ok bool
			if page, ok = t.page(it.Slug); !ok {
				return move{}
			}
		}
	}
	switch {
	case has("how") && !has("many", "how many") && w.verb != "":
		p := t.unknown(&w)
		p.text = "You can say it like this:"
		return move{text: p.String()}
	case has("should", "soll", "sollte", "would", "würde"):
		p := t.unknown(&w)
		p.text = t.say("unanswered").text
		return move{text: p.String()}
	case page == nil && w.noun == "entry":
		return list("entry")
	case page == nil && (w.noun == "media" || w.field == "picture"):
		return list("media")
	case page == nil && (w.noun == "menu" || w.noun == "section" || w.noun == "collection"):
		return list(w.noun)
	case page == nil && (w.noun == "page" || w.values["status"].text != ""):
		return list("page")
	case page == nil:
		p := t.unknown(&w)
		p.text = t.say("unanswered").text
		return move{text: p.String()}
	case has("who", "when", "wer", "wann", "changed", "geändert"):
		return move{text: fmt.Sprintf("The page %q was changed last at %s. The log beside the preview says by whom.", page.Name, page.UpdatedAt)}
	case w.verb == "publish" || w.verb == "unpublish" || has("draft", "drafts"):
		state := map[bool]string{true: "It is a draft, so visitors don't see it.",
			false: "It is published."}[page.Status == "draft"]
		p := problem{text: fmt.Sprintf("The page %q: %s", page.Name, state), offers: []string{"publish " + page.Slug}}
		if page.Status != "draft" {
			p.offers = []string{"take " + page.Slug + " offline"}
		}
		return move{text: p.String()}
	case w.verb != "" && w.verb != "show":
		p := t.unknown(&w)
		p.text = fmt.Sprintf("Nothing was changed by your question about the page %q. Say it as a wish if you want it:", page.Name)
		return move{text: p.String()}
	}
	text := fmt.Sprintf("The page %q (%s) has %d sections:", page.Name, cmp.Or(page.Status, "published"),
		len(page.Sections))
	for _, sec := range page.Sections {
		text += "\n- " + sec.Name
		for _, v := range sec.Content {
			if v, ok := v.(string); ok {
				text += ": " + v
			}
		}
	}
	return move{text: text}
}
