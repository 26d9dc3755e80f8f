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
	used          int    // how many of past were made for operations that are done
	need          []call // what has to be read first
	german        bool
	said          string // what the model said last
	text          string
}

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
				var input map[string]any
				_ = json.Unmarshal(p.Call.Input, &input) // what a person edited is an object, too
				inputs[p.Call.ID] = input
			}
			if r := p.Result; r != nil {
				c := call{r.Name, inputs[r.CallID], text(r), r.Error}
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
	return t.answer(t.meant(req.LastUserText()))
}

var choice = regexp.MustCompile("(?m)^- `([^`]*)`$")

// meant returns what a person has chosen from the model's last question, or else what was said.
func (t *turn) meant(said string) string {
	var fit []string
	word := strings.ToLower(strings.Trim(said, " .!?\"'"))
	offers := choice.FindAllStringSubmatch(t.said, -1)
	for _, o := range offers {
		yes := len(offers) == 1 && slices.Contains([]string{"yes", "yes please", "yes, do it", "that one", "ja",
			"ja bitte"}, word)
		if yes || word != "" && slices.Contains(strings.Fields(strings.ToLower(o[1])), word) {
			fit = append(fit, o[1])
		}
	}
	if len(fit) == 1 && understand(said).plainAnswer() {
		return fit[0]
	}
	return said
}

// plainAnswer reports whether a sentence has no verb.
func (s *sentence) plainAnswer() bool {
	return !slices.ContainsFunc(s.wishes, func(w wish) bool { return w.verb != "" })
}

// answer answers a sentence: it reads what is needed, finds out the operations, and carries them
// out, all of them or none.
func (t *turn) answer(said string) move {
	t.text = said
	s := understand(said)
	t.german = slices.ContainsFunc(s.tokens, func(k token) bool { return vocabulary.german[plain(k.text)].class != "" })
	m := t.respond(s)
	if len(t.need) > 0 {
		return move{think: "I look up what is meant.", calls: t.need}
	}
	return m
}

func (t *turn) respond(s *sentence) move {
	switch {
	case s.asks:
		return t.question(s)
	case s.back:
		return t.say("back")
	case s.when:
		return t.say("when")
	case len(s.wishes) == 0 && len(s.forbidden) > 0 || slices.ContainsFunc(s.wishes, s.conflicts):
		return t.say("forbidden")
	case len(s.wishes) == 0:
		return move{text: help()}
	}
	var ops []*operation
	var trouble *problem
	for i := range s.wishes {
		o, p := t.plan(&s.wishes[i], ops)
		if p != nil {
			trouble = cmp.Or(trouble, p)
			continue
		}
		if o != nil {
			ops = append(ops, o)
		}
	}
	if trouble != nil {
		return move{text: trouble.String()}
	}
	return t.carryOut(ops)
}

// conflicts reports whether a wish is about what another part of the sentence forbids.
func (s *sentence) conflicts(w wish) bool {
	reads := slices.Contains([]string{"show", "list", "find", "help", "thanks", "fetch"}, w.verb)
	return slices.ContainsFunc(s.forbidden, func(f wish) bool {
		switch {
		case f.verb == "other" || reads:
			return false
		case f.verb != "" && f.verb != w.verb && f.verb != "set":
			return false
		case w.verb == "delete" && w.kind == "" && f.ref.text == "":
			return true
		}
		return f.kind == w.kind && f.field == w.field && (f.ref.text == "" || w.ref.text == "" ||
			strings.EqualFold(f.ref.text, w.ref.text)) ||
			f.kind+f.field == ""
	})
}

// read returns the result of a call that only reads. Without one, the call is made next.
func (t *turn) read(tool string, input map[string]any) (string, bool) {
	if !t.offered[tool] {
		return "", true
	}
	for _, c := range t.past {
		if c.tool == tool && same(c.input, input) {
			return c.result, true
		}
	}
	if !slices.ContainsFunc(t.need, func(c call) bool { return c.tool == tool && same(c.input, input) }) {
		t.need = append(t.need, call{tool: tool, input: input})
	}
	return "", false
}

func same(a, b map[string]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// carryOut makes the calls of operations, one after the other, and says what came of them.
func (t *turn) carryOut(ops []*operation) move {
	if i := slices.IndexFunc(ops, func(o *operation) bool { return o.tool() != "" && !t.offered[o.tool()] }); i >= 0 {
		return t.onlyPlan(ops, ops[i].tool())
	}
	if o := ops; len(o) == 1 && o[0].form.Tool == "cms.createPage" && t.offered["plan.choose"] &&
		o[0].slots["way"] != nil {
		return t.choose(o[0])
	}
	var said []string
	var made []map[string]any
	for _, o := range ops {
		m, ok := t.carry(o, made, len(said) > 0)
		if len(m.calls) > 0 {
			return m
		}
		said = append(said, m.text)
		made = append(made, object(o.result))
		if !ok && !o.form.Reads {
			if left := len(ops) - len(said); left > 0 {
				said = append(said, fmt.Sprintf("I stopped there, so %d more of what you asked for %s not done.",
					left, map[bool]string{true: "is", false: "are"}[left == 1]))
			}
			break
		}
	}
	return move{text: strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "\n")}
}

var taken = regexp.MustCompile(`^slug "([^"]+)" exists already .*such as "([^"]+)"`)

// carry carries out one operation. It reports whether it succeeded.
func (t *turn) carry(o *operation, made []map[string]any, changed bool) (move, bool) {
	if o.tool() == "" {
		return move{text: o.fill(o.form.words(t.german))}, true
	}
	if o.from > 0 {
		o.input["page"] = made[o.from-1]["slug"]
	}
	for {
		i := slices.IndexFunc(t.past[t.used:], func(c call) bool {
			return c.tool == o.tool() && (!o.form.Reads || same(c.input, o.input))
		})
		if i < 0 {
			return move{think: "I " + o.fill(o.form.Doing) + ".", calls: []call{{tool: o.tool(),
				input: o.input}}}, false
		}
		c := t.past[t.used+i]
		t.used += i + 1
		free := taken.FindStringSubmatch(c.result)
		want, suggested := strings.CutPrefix(c.result, suggestion)
		switch key := map[string]string{"cms.createPage": "slug", "cms.clonePage": "newSlug",
			"cms.upsertEntry": "entry"}[o.tool()]; {
		case suggested:
			return t.instead(strings.TrimSpace(want), o), false
		case c.failed && free != nil && key != "" && (o.form.Verb == "make" || o.form.Verb == "copy"):
			o.slots["was"], o.input[key] = cmp.Or(o.slots["was"], any(free[1])), free[2]
			continue
		case c.failed:
			return move{text: o.note(t.german) + failed(o.fill(o.form.Doing), c.result, changed)}, false
		}
		o.result = c.result
		o.slots["text"], o.slots["result"] = c.result, object(c.result)
		return move{text: o.note(t.german) + o.fill(o.form.words(t.german))}, true
	}
}

// instead carries out what a person wants instead of a call, or proposes something.
func (t *turn) instead(want string, o *operation) move {
	said := "You rejected that and suggested: " + strings.TrimRight(want, ".") + ".\n"
	if s := understand(want); !s.plainAnswer() && !slices.ContainsFunc(s.wishes,
		func(w wish) bool { return w.bad || w.verb == "" || w.verb == "make" && w.values["name"].text == "" }) {
		m := t.answer(want)
		if len(m.calls) == 0 {
			m.text = said + m.text
		}
		return m
	}
	p := problem{text: said + "I changed nothing."}
	if o.form.Instead != "" {
		p.text += " Instead I could do this:"
		p.offers = []string{o.filled(o.form.Instead)}
	}
	return move{text: p.String()}
}

// The beginnings of results of calls that a person or a rule kept from running.
const (
	suggestion = "A person rejected this call and suggests instead:"
	rejection  = "A person rejected this call."
	notRun     = "The call wasn't run: "
)

// failed describes a failed call; doing is as in "I couldn't delete the page".
func failed(doing, text string, changed bool) string {
	text, _, _ = strings.Cut(text, "\n{") // the observation of a conflict says the same
	rest := " Nothing was changed."
	if changed {
		rest = ""
	}
	if why, rejected := strings.CutPrefix(text, rejection); rejected {
		if why != "" {
			why = " (" + strings.Trim(why, " .") + ")"
		}
		return fmt.Sprintf("I didn't %s, because you rejected it%s.%s", doing, why, rest)
	}
	if strings.Contains(text, "rejected: expired") {
		return fmt.Sprintf("I didn't %s: nobody approved it in time.%s", doing, rest)
	}
	return fmt.Sprintf("I couldn't %s: %s.", doing, strings.TrimRight(strings.TrimPrefix(text, notRun), ". "))
}

// text returns a result without the notes at its end.
func text(r *provider.ToolResult) string {
	if len(r.Parts) == 0 {
		return ""
	}
	return strings.TrimSpace(r.Parts[0].Text)
}

// object decodes a result.
func object(text string) (out map[string]any) {
	_ = json.Unmarshal([]byte(text), &out) // other results are texts
	return out
}

func slugged(name any) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(fmt.Sprint(name), func(r rune) bool {
		return r == ' ' ||
			r == '/'
	}), "-"))
}
