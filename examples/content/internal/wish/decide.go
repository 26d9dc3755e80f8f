package wish

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

// name returns the intent of a rule.
func name(rule string) string {
	switch rule {
	case "NEW":
		return FullPipeline
	case "EDIT", "LEAVE":
		return ModifyContent
	case "", "MANY", "WORSE":
		return Clarify
	}
	return rule
}

// hold returns a wish that isn't done.
func (p *pending) hold(rule string, mood string, id string) Wish {
	w := Wish{Intent: name(rule), Confidence: 0.9, Why: Forbids, Say: p.Pairs["say"][mood], Artifact: id}
	if mood == "retracts" {
		w.Why = TakesBack
	}
	if f := p.Intents[w.Intent].Forbid; mood == "forbids" && rule != "LEAVE" && f != "" {
		w.Say = f
	}
	return w
}

// wish returns what the text wants, by the clause i; -1: no clause wants anything.
func (p *pending) wish(i int) Wish {
	here := p.target(p.text, p.at)
	a := p.at.of(here.id)
	if i < 0 {
		return p.unclear(a)
	}
	c := p.parts[i]
	if c.intent == "WORSE" {
		return Wish{Intent: Restore, Confidence: 0.6, Why: Unclear, Say: p.Reader.text("worse", a, p.at),
			Artifact: here.id, Options: []Option{p.option(Restore, a, p.at), p.option(Undo, a, p.at)}}
	}
	guess := func(o part) bool { return o.sentence == c.sentence && o.means("guess") }
	if c.asked && c.mood == "depends" && slices.ContainsFunc(p.parts, guess) {
		return p.answer("", a)
	}
	asks := c.mood == "questions" || c.asked && c.mood != "requests" && c.means(p.list("questions")...)
	if asks && !p.is("asking", c.intent) && !(c.intent == GenerateTopics && c.means("write_about")) {
		return p.answer(c.intent, a)
	}
	if p.Pairs["say"][c.mood] != "" {
		return p.hold(c.intent, c.mood, here.id)
	}
	left := func(t lexicon.Token) bool {
		return t.Means("idle") || t.First < c.wish && t.Means("leave", "skip", "change_none")
	}
	if c.intent == "LEAVE" || !p.is("negating", c.intent) && slices.ContainsFunc(c.tokens, left) {
		return p.hold("LEAVE", "forbids", here.id)
	}
	if c.mood == "mentions" && c.asked && here.id == "" && !p.is("harmless", c.intent) {
		if w := p.answer("", a); w.Confidence > 0.5 {
			return w
		}
	}
	later := func(word string) bool { return p.is("later", word) }
	if c.intent != "NEW" && !p.is("harmless", c.intent) && slices.ContainsFunc(c.words, later) {
		return p.hold(c.intent, "depends", here.id)
	}
	for _, o := range p.parts {
		if o.mood == "depends" && o.sentence == c.sentence && !p.is("harmless", c.intent) {
			return p.hold(c.intent, "depends", here.id)
		}
	}
	w := Wish{Intent: c.intent}
	for n, later := range p.parts[i+1:] {
		switch {
		case later.intent == Undo && c.intent != Undo, later.intent == Stop && c.intent != Stop,
			later.intent == "" && later.means("skip"),
			later.intent == "LEAVE" && !later.means(p.list("about")...):
			return p.hold(c.intent, "retracts", here.id)
		case later.means("meant"):
			return p.corrected(w, c, i+1+n)
		case p.is("weak", later.intent) || later.intent == "" || later.means("hands"),
			later.intent == c.intent || !later.may():
		case stepOf[c.intent] != "" && stepOf[later.intent] != "":
			w.Intent, w.Steps = PartialPipeline, append(w.Steps, stepOf[later.intent])
		case w.Next == "" && c.intent != "NEW":
			w.Next = p.text[later.begin:]
		}
	}
	if w.Intent == PartialPipeline {
		w.Steps = append(w.Steps, stepOf[c.intent])
		slices.SortFunc(w.Steps, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
		w.Steps = slices.DeleteFunc(w.Steps, func(s string) bool { return s == order[4] && !p.pictures })
	}
	return p.done(w, c)
}

// corrected asks about what the writer meant instead.
func (p *pending) corrected(w Wish, c part, i int) Wish {
	here := p.target(p.text[p.parts[i].begin:], p.at)
	for _, other := range p.parts[i:] {
		if a := p.at.of(here.id); a != nil && other.may() && other.intent != "" && !p.is("weak", other.intent) {
			w.Intent, w.Why, w.Confidence, w.Artifact = name(other.intent), Confirms, 0.7, a.ID
			w.Say = p.Reader.text(p.Intents[w.Intent].Ask, a, p.at)
			w.Options = []Option{{p.Reader.text(p.Intents[w.Intent].Label, a, p.at), p.text[other.begin:] + suffix(a)}}
			return w
		}
	}
	w.Intent, w.Why, w.Confidence = name(c.intent), Confirms, 0.7
	a := p.at.of(here.id)
	if a == nil || !here.named {
		return p.which(w, p.Pairs["say"]["which"], p.Intents[w.Intent].Request, p.at.Artifacts)
	}
	w.Artifact, w.Say, w.Options = a.ID, p.Reader.text("meant", a, p.at), []Option{p.option(w.Intent, a, p.at)}
	return w
}

// done finishes a wish that isn't withheld: what it is about, its details, and whether it is sure.
func (p *pending) done(w Wish, c part) Wish {
	w.Confidence = 0.95
	if c.intent == "NEW" || stepOf[c.intent] != "" && p.starts(&c) {
		if made, ok := p.made(w, c); ok {
			return made
		}
		if w.Intent == "NEW" { // "put the article …" writes nothing
			w.Intent, c.plain = WriteContent, c.plain && c.means("write", "draft")
		}
	}
	w.Intent = name(w.Intent)
	switch w.Intent {
	case Unsupported, Help:
		w.Say = p.Pairs["say"][strings.ToLower(w.Intent)]
		return w
	case GenerateTopics, ListArtifacts:
		p.fill(&w, p.text, &c, nil)
		return w
	}
	about := p.text
	if title := p.titleIn(about); w.Intent == Rename && title != "" { // the new title names no artifact
		if i := strings.LastIndex(strings.ToLower(about), strings.ToLower(title)); i >= 0 {
			about = about[:i] + about[i+len(title):]
		}
	}
	here, say := p.target(about, p.at), p.Pairs["say"]
	w.Artifact = here.id
	switch {
	case len(here.several) > 0:
		return p.which(w, say["which"], p.text, here.several)
	case here.unknown != "":
		return p.which(w, strings.Replace(say["unknown"], "{name}", p.own(here.unknown), 1), p.text, p.at.Artifacts)
	case c.intent == "MANY":
		return p.many(w, &c)
	case !here.named && len(p.quotes(about)) > 0 && !p.is("quoting", c.intent):
		unknown := strings.Replace(say["unknown"], "{name}", p.quotes(about)[0], 1)
		return p.which(w, unknown, p.text, p.at.Artifacts)
	case w.Artifact == "" && w.Intent != Stop:
		return p.which(w, say["openOne"], p.text, p.at.Artifacts)
	}
	a, whole, wanted := p.at.of(here.id), part{}, ""
	for i, one := range p.parts {
		if one.mood == "forbids" && !c.negates || one.means("hands") {
			continue
		}
		end := len(p.text)
		if i+1 < len(p.parts) {
			end = p.parts[i+1].begin
		}
		wanted += p.text[one.begin:max(one.begin, end)]
		for _, t := range one.tokens {
			whole.tokens = append(whole.tokens, lexicon.Token{Meanings: t.Meanings, First: t.First + len(whole.words)})
		}
		whole.words = append(whole.words, one.words...)
	}
	p.fill(&w, p.text, &whole, a)
	if w.Section != "" {
		w.Section = p.section(wanted, &whole, a)
	}
	switch {
	case c.intent == "EDIT":
		return p.offer(w, Unclear, "better", a, p.at)
	case w.Intent == Rename && p.retitle(&w, a, &c) == "":
		return p.offer(w, Unclear, "title", a, p.at)
	case w.Intent == SkipVisuals && a != nil && a.Status != "writing" && a.Status != "creating_visuals":
		return p.hold(CreateVisuals, "forbids", a.ID)
	case w.Intent == ModifyContent && w.Tone != "" && a != nil && done[a.Status] <= 2 && c.means("make", "change"):
		w.Intent = SetTone
	case w.Intent == ModifyContent && w.Section == "" && (c.means("another") || c.means("cut") && c.means("quoted")):
		return p.offer(w, Unclear, "better", a, p.at)
	case w.Intent == ModifyContent && w.Section == "" && p.vague(a):
		w = p.offer(w, Unclear, "part", a, p.at)
		w.Options = nil
		for _, s := range a.Sections {
			w.Options = append(w.Options, Option{s, strings.TrimRight(p.text, ".!? ") + ": “" + s + "”" + suffix(a)})
		}
		return w
	case w.Intent == ModifyContent && w.Section != "" && a != nil && a.Status == "skeleton" &&
		c.means("write", "draft"):
		w.Intent, w.Steps = WriteContent, order[2:3]
	case w.Intent == ModifyContent:
		w.Remove = w.Section != "" && c.means("cut") && !c.means("paragraph")
	case w.Intent == WriteContent && w.Section != "" && a != nil && done[a.Status] != 2:
		w.Intent = ModifyContent
	case w.Intent == WriteContent && w.Section != "":
		w.Steps = order[2:3]
	case w.Intent != PartialPipeline:
		w.steps(a, p.pictures)
		if w.Intent == Continue && c.means("onestep") && len(w.Steps) > 0 {
			w.Steps = w.Steps[:1]
			w.Intent = intentOf[slices.Index(order, w.Steps[0])]
		}
	}
	if w.Intent == WriteContent && !p.pictures {
		w.Intent = SkipVisuals
	}
	return p.certain(w, c, a)
}

// many asks which one of those that can be archived, published or taken back is meant.
func (p *pending) many(w Wish, c *part) Wish {
	w.Intent = Archive
	for name, meaning := range map[string]string{Publish: "publish", Unpublish: "unpublish"} {
		if c.means(meaning) {
			w.Intent = name
		}
	}
	var can []Artifact
	for _, a := range p.at.Artifacts {
		if (w.Intent == Archive && a.Status != "archived") || (w.Intent == Publish && a.Status == "ready") ||
			(w.Intent == Unpublish && a.Status == "published") {
			can = append(can, a)
		}
	}
	if len(can) == 0 {
		w.Why, w.Say = Unclear, p.Pairs["say"]["none"+w.Intent]
		return w
	}
	return p.which(w, p.Pairs["say"]["many"+w.Intent], p.Intents[w.Intent].Request, can)
}

// vague reports whether a change is for a section that the text has not: "the part about holidays".
func (p *pending) vague(a *Artifact) bool {
	for _, c := range p.parts {
		for i, t := range c.tokens {
			if t.Means("section") && a != nil && len(a.Sections) > 0 && p.before(c.words, c.tokens, i, "definite") &&
				(i+1 < len(c.tokens) && (c.tokens[i+1].Means("topic") || c.words[c.tokens[i+1].First] == "on") ||
					c.tokens[i-1].Meanings == nil && !p.lexicon.Filler(c.words[c.tokens[i-1].First]) ||
					c.tokens[i-1].Means("opinion")) {
				return true
			}
		}
	}
	return false
}

// certain lets a wish be done if its sentence plainly asks for it, and otherwise asks.
func (p *pending) certain(w Wish, c part, a *Artifact) Wish {
	clear := c.mood == "requests" || c.mood == "mentions" && !c.asked && intent.Plain(p.text)
	if w.Intent == ModifyContent && c.mood == "mentions" && !c.asked && !c.negates {
		clear = !slices.ContainsFunc(p.parts, func(o part) bool { return p.Pairs["say"][o.mood] != "" })
	}
	if p.is("harmless", w.Intent) || w.Intent == SkipVisuals || p.confirmed || clear && c.plain {
		w.Say = p.Reader.text(p.Intents[w.Intent].Done, a, p.at)
		return w
	}
	yes := Option{p.Reader.text(p.Intents[w.Intent].Label, a, p.at), confirmedBy + p.text + suffix(a)}
	if w.New {
		yes.Label = strings.Replace(p.Pairs["say"]["newLabel"], "{title}", w.Title, 1)
	}
	if !c.plain && !c.asked { // a statement
		w = p.offer(w, Unclear, "unclear", a, p.at)
		w.Options = append([]Option{yes}, w.Options...)
		return w
	}
	w.Why, w.Confidence, w.Options = Confirms, 0.8, []Option{yes}
	if w.Say = p.Reader.text(p.Intents[w.Intent].Ask, a, p.at); w.New {
		w.Say = strings.Replace(p.Pairs["say"]["new"], "{title}", w.Title, 1)
	}
	return w
}

// starts reports whether steps are wanted for an artifact that doesn't exist: "an outline for a
// post about pricing", or "research pricing for lawyers".
func (p *pending) starts(c *part) bool {
	for i, t := range c.tokens {
		if t.Means(p.list("pieces")...) && p.before(c.words, c.tokens, i, "indefinite") {
			return true
		}
		if c.intent == ResearchTopic && (t.Means("topic") || t.Means("quoted") && c.means("theme") ||
			i > 0 && p.is("into", c.words[c.tokens[i-1].Last]) &&
				t.Meanings == nil && !p.lexicon.Filler(c.words[t.First])) {
			return true
		}
	}
	return false
}

// made returns the wish for a new artifact. ok is false if the sentence is about one that exists.
func (p *pending) made(w Wish, c part) (made Wish, ok bool) {
	title, here := p.clean(p.own(p.subject(p.text))), p.target(p.text, p.at)
	if a := p.at.of(here.id); a != nil && (c.means("use") && c.means("sources", "research_n") ||
		title == "" && c.means("derive", "use")) {
		w.From, title = a.ID, a.Title
	}
	fresh, a := c.means("topic", "new") || w.From != "", false
	for i, t := range c.tokens {
		if t.Means("drafts") || t.Means(p.list("pieces")...) {
			the := p.before(c.words, c.tokens, i, "definite") || i > 0 && c.words[c.tokens[i-1].Last] == "this"
			fresh = !the && (fresh || !t.Means("drafts")) || the && c.means("topic") && !here.named
			a = a || p.before(c.words, c.tokens, i, "indefinite")
		}
	}
	fresh = fresh || a && w.From != ""
	same := slices.ContainsFunc(p.at.Artifacts, func(a Artifact) bool { return strings.EqualFold(a.Title, title) })
	if same && w.From == "" || !fresh && (c.intent != ResearchTopic || title == "" || here.named) {
		return w, false
	}
	p.fill(&w, p.text, &c, nil)
	if w.Type == "" {
		w.Type = "blog"
	}
	w.New, w.Title, w.Section, w.Instruction = true, title, "", ""
	switch {
	case c.intent == "NEW" && (p.re["draftOnly"].MatchString(p.text) || !c.means("write") &&
		(c.means("start", "new", "add", "drafts") || strings.Contains(p.text, "a draft"))):
		w.Intent = CreateDraft
	case c.intent == "NEW":
		w.Intent = FullPipeline
	}
	if w.Intent != PartialPipeline {
		w.steps(nil, p.pictures)
	}
	if title == "" {
		w = p.offer(w, Unclear, "about", nil, p.at)
		w.Options = w.Options[:1]
		return w, true
	}
	return p.certain(w, c, nil), true
}
