package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A call is a call of a tool, and its result if it has one.
type call struct {
	tool   string
	input  map[string]any
	result string
	failed bool
}

// A move is what the model does next: calls, or a text.
type move struct {
	text, think string
	calls       []call
}

// A turn answers one message of a person. It processes the message from its beginning, and takes
// the results of calls that were made already instead of making them again.
type turn struct {
	offered       map[string]bool
	past, earlier []call // for this message, and before it
	used          int    // how many of past belong to operations that are done
	need          []call // what has to be read first
	german        bool
	text, said    string // what the person says, and the model said last
}

// uploaded is a line that a page adds for a file, and theFile what means it.
var (
	uploaded = regexp.MustCompile(`(?m)^Uploaded file: (.*)$`)
	theFile  = regexp.MustCompile(`(?i)\b(it|this|that|(the|this|my) (picture|image|photo|file)|das bild|dieses bild|es)\b`)
)

// decide returns the model's next move.
func decide(req *provider.Request) move {
	t := &turn{offered: make(map[string]bool)}
	for _, tool := range req.Tools {
		t.offered[tool.Name] = true
	}
	messages := req.Messages
	limit := req.ToolChoice.Mode == provider.ChooseNone // the last message says so
	if limit && len(messages) > 0 {
		messages = messages[:len(messages)-1]
	}
	newest := len(messages) - 1
	for newest > 0 && messages[newest].Role != provider.RoleUser {
		newest--
	}
	inputs := map[string]map[string]any{}
	for i := range messages {
		if i < newest && messages[i].Role == provider.RoleAssistant {
			t.said = cmp.Or(messages[i].Text(), t.said)
		}
		for _, p := range messages[i].Parts {
			if p.Call != nil {
				inputs[p.Call.ID] = object(string(p.Call.Input))
			}
			if r := p.Result; r != nil && len(r.Parts) > 0 { // the notes after its text aren't read
				c := call{r.Name, inputs[r.CallID], strings.TrimSpace(r.Parts[0].Text), r.Error}
				if i > newest {
					t.past = append(t.past, c)
				} else if !r.Error {
					t.earlier = append(t.earlier, c)
				}
			}
		}
	}
	if limit {
		said := "This run is at its limit, so I stop here."
		for i, c := range slices.DeleteFunc(t.past, func(c call) bool { return c.failed }) {
			said += []string{" These calls succeeded: ", ", "}[min(i, 1)] + c.tool
		}
		return move{text: said + ". Ask again for what is left."}
	}
	return t.answer(t.meant(strings.ToValidUTF8(req.LastUserText(), "\uFFFD"))) // as it comes back in JSON
}

var choice = regexp.MustCompile("(?m)^- `([^`]*)`$")

// meant returns what a person has chosen from what the model has offered, or else what was said.
func (t *turn) meant(said string) string {
	var fit []string
	word := strings.ToLower(strings.Trim(said, " .!?\"'"))
	offers := choice.FindAllStringSubmatch(t.said, -1)
	for _, o := range offers {
		yes := len(offers) == 1 && slices.Contains(strings.Split("yes|yes please|yes, do it|that one|ja|ja bitte",
			"|"), word)
		if yes || word != "" && slices.Contains(strings.Fields(strings.ToLower(o[1])), word) {
			fit = append(fit, o[1])
		}
	}
	verb := slices.ContainsFunc(understand(said).wishes, func(w wish) bool { return w.verb != "" })
	if len(fit) == 1 && !verb {
		return fit[0]
	}
	return said
}

// answer answers a sentence: it reads what is needed, finds out the operations, and carries them
// out, all of them or none.
func (t *turn) answer(said string) move {
	files := uploaded.FindAllStringSubmatch(said, -1)
	t.text = strings.TrimSpace(uploaded.ReplaceAllString(said, ""))
	if len(files) == 1 {
		t.text = theFile.ReplaceAllLiteralString(t.text, files[0][1])
	}
	s, rest := understand(t.text), ""
	if i := strings.LastIndex(t.text, "?") + 1; s.asks && i > 0 && len(understand(t.text[i:]).wishes) > 0 {
		s, rest = understand(t.text[:i]), strings.TrimSpace(t.text[i:]) // a wish after a question
	}
	t.german = slices.ContainsFunc(s.tokens, func(k token) bool { return slices.Contains(german, plain(k.text)) })
	var ops []*operation
	wrong := ""
	switch {
	case len(s.wishes) == 1 && s.wishes[0].verb == "help":
		wrong = Help()
	case s.asks:
		ops, wrong = t.question(s)
	case s.offer != "" && slices.ContainsFunc(s.wishes, func(w wish) bool { return w.bad || w.verb == "" }):
		ops, wrong = t.question(s)
		s.asks = true
	case s.offer != "" && !s.back && !s.when && slices.ContainsFunc(s.wishes, func(w wish) bool { return !w.reads() }):
		wrong = t.say("offer", s.offer)
	case s.back:
		wrong = t.say("back")
	case s.when:
		wrong = t.say("when")
	case len(s.wishes) == 0 && len(s.forbidden) > 0 || slices.ContainsFunc(s.wishes, s.conflicts):
		wrong = t.say("forbidden")
	case len(s.wishes) == 0 && len(files) > 0:
		wrong = t.say("uploaded", "put "+files[0][1]+" on Home as the hero picture")
	case len(s.wishes) == 0:
		wrong = Help()
	default:
		if i := slices.IndexFunc(s.wishes, func(w wish) bool { return w.bad || w.verb == "" }); i >= 0 {
			wrong = t.unknown(&s.wishes[i], "unknown")
			if len(s.forbidden) > 0 && !slices.ContainsFunc(s.wishes, func(w wish) bool { return w.verb != "" }) {
				wrong = t.say("forbidden") // "whatever happens, don't …"
			}
		}
	}
	for i := range s.wishes {
		if wrong == "" && !s.asks {
			var o *operation
			if o, wrong = t.plan(&s.wishes[i], ops); o != nil {
				ops = append(ops, o)
			}
		}
	}
	if len(t.need) > 0 {
		return move{think: "I look up what is meant.", calls: t.need}
	}
	m := move{text: wrong}
	if wrong == "" {
		m = t.carryOut(ops)
	}
	if len(m.calls) == 0 && rest != "" {
		m.text += "\n\n" + t.say("rest", rest)
	}
	return m
}

// question returns what is read for the answer of a question, or the answer.
func (t *turn) question(s *sentence) ([]*operation, string) {
	said := " "
	for _, k := range s.tokens {
		said += strings.Trim(plain(k.text), "?") + " "
	}
	tokens := slices.DeleteFunc(slices.Clone(s.tokens), func(k token) bool {
		return slices.Contains(questions, plain(k.text)) || strings.Contains(" conj if neg many ", " "+k.class+" ")
	})
	if len(tokens) == 0 {
		return nil, t.unknown(&wish{}, "unanswered")
	}
	w := parse(t.text, tokens, "")
	if w.media != "" {
		w.noun = "media"
	}
	o := &operation{slots: map[string]any{"query": w.ref.text}}
	var it found
	asked := func(f *form) bool {
		return (f.Has == "" || slices.ContainsFunc(strings.Split(f.Has, "|"), func(word string) bool {
			return strings.Contains(said, " "+word+" ")
		})) && (f.Verb == "" || w.verb != "" && w.verb != "show")
	}
	general := slices.ContainsFunc(table.Questions, func(f *form) bool { return f.Of == "" && asked(f) })
	if w.ref.text != "" && w.noun != "media" && w.field != "picture" && !general {
		var wrong string
		it, _, wrong = t.subject(&wish{verb: "show", ref: w.ref, noun: w.noun}, nil)
		near := wrong != "" && len(foundIn(t.read("cms.findResource", map[string]any{"query": w.ref.text}))) > 0
		if it.Slug == "" && (wrong == "" || w.ref.quoted || near) {
			return nil, wrong
		}
		o.slots["page"], o.slots["entry"], o.slots["title"] = it.Slug, it.Slug, it.Name
	} // what is called like nothing on the site is no name: "How many pages have we got?"
	for _, f := range table.Questions {
		about := cmp.Or(map[string]string{"page": "named", "entry": "post"}[it.Kind],
			map[string]string{"picture": "media"}[w.field],
			w.noun, "none")
		if o.form = f; !asked(f) || f.Of != "" && !slices.Contains(strings.Fields(f.Of), about) {
			continue
		}
		if f.Tool == "" {
			return nil, t.unknown(&w, o.fill(cmp.Or(map[bool]string{true: f.De}[t.german], f.Reply)))
		}
		o.input, _ = o.value(f.Input).(map[string]any)
		return []*operation{o}, ""
	}
	return nil, t.unknown(&w, "unanswered")
}

// read returns the result of a call that only reads. Without one, the call is made next.
func (t *turn) read(tool string, input map[string]any) string {
	same := func(c call) bool { return c.tool == tool && fmt.Sprint(c.input) == fmt.Sprint(input) }
	if i := slices.IndexFunc(t.past, same); i >= 0 {
		return t.past[i].result
	}
	if t.offered[tool] && !slices.ContainsFunc(t.need, same) {
		t.need = append(t.need, call{tool: tool, input: input})
	}
	return ""
}

// carryOut makes the calls of operations, one after the other, and says what came of them.
func (t *turn) carryOut(ops []*operation) move {
	if i := slices.IndexFunc(ops, func(o *operation) bool { return !t.offered[o.Tool] }); i >= 0 {
		return t.onlyPlan(ops, ops[i].Tool)
	}
	if len(ops) == 1 && t.offered["plan.choose"] && ops[0].Tool == "cms.createPage" && cmp.Or(ops[0].slots["way"],
		any("")) != "" {
		i := slices.IndexFunc(table.Forms, func(f *form) bool { return f.Verb == "choose" })
		ops[0].form = table.Forms[i]
		ops[0].slots["newSlug"] = slugged(ops[0].slots["name"])
		ops[0].input, _ = ops[0].value(ops[0].Input).(map[string]any)
	}
	var said []string
	var made []map[string]any
	for _, o := range ops {
		if o.Verb == "publish" && o.from > 0 { // "create … and publish it"
			ops[o.from-1].slots["published"] = true
		}
	}
	for i, o := range ops {
		if o.from > 0 {
			o.input["page"] = made[o.from-1]["slug"]
		}
		c, done := t.next(o)
		if !done {
			return move{think: "I " + o.fill(o.Doing) + ".", calls: []call{{tool: o.Tool, input: o.input}}}
		}
		made = append(made, object(c.result))
		if !c.failed {
			o.slots["text"], o.slots["result"] = c.result, made[i]
			said = append(said, o.answer(t.german))
			continue
		}
		if want, suggested := strings.CutPrefix(c.result,
			"A person rejected this call and suggests instead:"); suggested {
			return t.instead(strings.TrimSpace(want), o, said)
		}
		said = append(said, failed(o.fill(o.Doing), c.result, i == 0))
		if left := len(ops) - i - 1; left > 0 && !o.Reads {
			said = append(said, fmt.Sprintf("I stopped there. Not done: %d more of what you asked for.", left))
			break
		}
	}
	return move{text: strings.Join(said, "\n\n")}
}

var taken = regexp.MustCompile(`^an? (?:page|entry) with the address "([^"]+)" exists.*such as "([^"]+)"`)

// next returns the next call that was made for an operation. If an address was taken, the free one
// is tried.
func (t *turn) next(o *operation) (call, bool) {
	key := map[string]string{"cms.createPage": "slug", "cms.clonePage": "newSlug", "cms.upsertEntry": "entry"}[o.Tool]
	for {
		i := slices.IndexFunc(t.past[t.used:], func(c call) bool {
			return c.tool == o.Tool && (!o.Reads || fmt.Sprint(c.input) == fmt.Sprint(o.input))
		})
		if i < 0 {
			return call{}, false
		}
		c := t.past[t.used+i]
		t.used += i + 1
		free := taken.FindStringSubmatch(c.result)
		if !c.failed || free == nil || key == "" || o.Verb != "make" && o.Verb != "copy" {
			return c, true
		}
		o.slots["was"], o.input[key] = cmp.Or(o.slots["was"], any(free[1])), free[2]
	}
}

// instead carries out what a person wants instead of a call, or proposes something.
func (t *turn) instead(want string, o *operation, before []string) move {
	said := strings.Join(append(before, "You rejected that and suggested: "+strings.TrimRight(want, ".")+".\n"), "\n")
	wishes := understand(want).wishes
	if len(wishes) > 0 && !slices.ContainsFunc(wishes, func(w wish) bool { return w.bad || w.verb == "" }) {
		m := t.answer(want)
		m.text = said + m.text
		return m
	}
	if o.Instead == "" {
		return move{text: said + "I changed nothing."}
	}
	return move{text: said + t.say("instead", o.filled(o.Instead))}
}

// onlyPlan is what becomes of operations in a mode that doesn't have their tools: a plan that is
// tried on a copy of the site, and then put before a person.
func (t *turn) onlyPlan(ops []*operation, lacks string) move {
	if !t.offered["cms.validatePlan"] {
		return move{text: fmt.Sprintf(t.say("mode"), lacks)}
	}
	var calls, nodes []any
	said := "The plan:\n"
	for i, o := range ops {
		if o.from > 0 {
			o.input["page"] = slugged(ops[o.from-1].slots["name"])
		}
		input, _ := json.Marshal(o.input) // it is made of texts and numbers
		calls = append(calls, map[string]any{"tool": o.Tool, "input": o.input})
		nodes = append(nodes, map[string]any{"id": fmt.Sprint("s", i+1), "tool": o.Tool, "input": string(input),
			"after": []string{fmt.Sprint("s", i)}[min(1, max(0, 1-i)):]})
		said += fmt.Sprintf("%d. %s\n", i+1, o.fill(o.Doing))
	}
	report := object(t.read("cms.validatePlan", map[string]any{"operations": calls}))
	if len(t.need) == 0 && report["valid"] != true {
		issues, _ := report["issues"].([]any)
		notes, _ := report["suggestions"].([]any)
		said += "I tried it on a copy of the site, and it doesn't work:"
		for _, line := range append(issues, notes...) {
			said += fmt.Sprint("\n- ", line)
		}
		return move{text: said + "\nNothing was changed."}
	}
	var titles []string
	for _, o := range ops {
		titles = append(titles, strings.ReplaceAll(o.fill(o.Doing), `"`, ""))
	}
	title, came := strings.Join(titles, ", then "), ""
	if len(t.need) == 0 && t.offered["plan.submit"] {
		came = t.read("plan.submit", map[string]any{"title": strings.ToUpper(title[:1]) + title[1:], "nodes": nodes})
	}
	if len(t.need) > 0 {
		return move{think: "I try the plan.", calls: t.need}
	}
	switch {
	case came == "":
		return move{text: said + t.say("works")}
	case strings.Contains(came, "status: completed"):
		return move{text: said + t.say("carried out")}
	}
	return move{text: said + failed("carry out the plan", came, true)}
}

// failed describes a failed call; doing is as in "I couldn't delete the page".
func failed(doing, text string, nothing bool) string {
	rest := map[bool]string{true: " Nothing was changed."}[nothing]
	why, rejected := strings.CutPrefix(text, "A person rejected this call.")
	switch {
	case strings.Contains(text, "chose none of the plans"):
		return "You chose none of the plans, so nothing was changed."
	case rejected && why != "":
		return fmt.Sprintf("I didn't %s, because you rejected it (%s).%s", doing, strings.Trim(why, " ."), rest)
	case rejected:
		return fmt.Sprintf("I didn't %s, because you rejected it.%s", doing, rest)
	case strings.Contains(text, "rejected: expired"):
		return fmt.Sprintf("I didn't %s: nobody approved it in time.%s", doing, rest)
	}
	if _, cause, of := strings.Cut(text, `" failed: `); of && strings.HasPrefix(text, "run: ") { // a step of a plan
		doing, text = "carry out the plan", strings.SplitN(cause, "\n", 2)[0]
	}
	return fmt.Sprintf("I couldn't %s: %s.", doing, strings.TrimRight(strings.TrimPrefix(text,
		"The call wasn't run: "), ". "))
}

// object decodes a result; one that isn't an object has nothing.
func object(text string) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal([]byte(text), &out)
	return out
}
