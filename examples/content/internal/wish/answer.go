package wish

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

// answer answers a question.
func (p *pending) answer(about string, a *Artifact) Wish {
	w := Wish{Intent: Answer, Why: Asks, Confidence: 0.9}
	if a != nil {
		w.Artifact = a.ID
	}
	var tokens []lexicon.Token
	for _, c := range intent.Read(strings.Map(unquote, p.text)) {
		tokens = append(tokens, p.lexicon.Tokens(c.Words)...)
	}
	if number, _, _, ok := p.answers.Find(tokens); ok {
		text := p.Reader.Answers[p.number(number)]
		if a == nil && strings.Contains(text, "{") && text != "{count}" {
			return p.which(w, p.Pairs["say"]["openOne"], p.text, p.at.Artifacts)
		}
		w.Say = p.Reader.text(text, a, p.at)
		return w
	}
	if about == "" {
		about, _, _, _ = p.rules.Find(tokens)
	}
	explain := p.Intents[name(about)]
	judged := func(t lexicon.Token) bool { return t.Means("should", "opinion", "guess") }
	opinion := slices.ContainsFunc(tokens, judged) &&
		slices.Contains([]string{ModifyContent, Rename, Clarify}, name(about))
	known := slices.ContainsFunc(tokens, func(t lexicon.Token) bool { return t.Means(p.list("explaining")...) })
	if about == "" || explain.Explain == "" || opinion || !known {
		w.Confidence = 0.5
		if a != nil && opinion {
			return p.offer(w, Asks, "opinion", a, p.at)
		}
		if a == nil {
			return p.offer(w, Asks, "dontKnowAll", a, p.at)
		}
		return p.offer(w, Asks, "dontKnow", a, p.at)
	}
	if w.Say = explain.Explain; explain.Request != "" && a != nil && !p.is("harmless", name(about)) {
		w.Options = []Option{p.option(name(about), a, p.at)}
	}
	return w
}

func unquote(r rune) rune {
	if strings.ContainsRune(`"“”„`, r) {
		return ' '
	}
	return r
}

// unclear answers a sentence in which nothing is recognized.
func (p *pending) unclear(a *Artifact) Wish {
	w := Wish{Intent: Clarify, Confidence: 0.4}
	if a != nil {
		w.Artifact = a.ID
	}
	for _, c := range p.parts {
		if c.asked && c.means("why") {
			return p.answer("", a)
		}
		if c.mood == "forbids" || c.mood == "retracts" {
			return p.hold("", "forbids", w.Artifact)
		}
	}
	for _, c := range p.parts {
		if c.asked || c.mood == "questions" || c.means(p.list("questions")...) {
			return p.answer("", a)
		}
	}
	for _, meaning := range p.list("pleasantries") {
		if len(p.parts) > 0 && p.parts[0].means(meaning) {
			w.Confidence = 0.8
			return p.offer(w, Unclear, meaning, a, p.at)
		}
	}
	return p.offer(w, Unclear, "unclear", a, p.at)
}
