package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/provider"
)

// A move is what the model does next: a call, or a text.
type move struct {
	text, tool, think string
	input             json.RawMessage
	asks              bool // the text ends the turn
}

// A turn answers one message of a person. It processes the message from its beginning, and takes
// the results of calls that were made already instead of making them again.
type turn struct {
	offered map[string]bool
	past    []*provider.ToolResult // for this message, and not used yet
	last    string                 // the slug of the page mentioned last
	planned []any                  // in a mode that only plans: the calls that would write
	plan    string                 // in words
}

// decide returns the model's next move.
func decide(req *provider.Request) move {
	w := &turn{offered: make(map[string]bool)}
	for _, t := range req.Tools {
		w.offered[t.Name] = true
	}
	messages := req.Messages
	limit := req.ToolChoice.Mode == provider.ChooseNone // the last message says so
	if limit && len(messages) > 0 {
		messages = messages[:len(messages)-1]
	}
	newest := newestOf(messages)
	for i := range messages {
		for _, p := range messages[i].Parts {
			switch {
			case p.Result == nil:
			case i > newest:
				w.past = append(w.past, p.Result)
			case !p.Result.Error:
				w.mentioned(decoded(p.Result))
			}
		}
	}
	if limit {
		return w.standing()
	}
	todo := requests(req.LastUserText())
	if answered := w.answered(messages[:newest], todo); answered != nil {
		todo = answered
	}
	return w.answer(todo)
}

// newestOf returns the index of the newest message of a person, or 0.
func newestOf(messages []provider.Message) int {
	newest := len(messages) - 1
	for newest > 0 && messages[newest].Role != provider.RoleUser {
		newest--
	}
	return max(newest, 0)
}

// standing says which calls have succeeded when no more are allowed.
func (w *turn) standing() move {
	text := "This run is at its limit, so I stop here."
	for i, r := range slices.DeleteFunc(w.past, func(r *provider.ToolResult) bool { return r.Error }) {
		text += []string{" These calls succeeded: ", ", "}[min(i, 1)] + r.Name
	}
	return move{text: text + ". Ask again for what is left."}
}

// mentioned remembers the page of a result.
func (w *turn) mentioned(result map[string]any) {
	if id, _ := result["id"].(string); strings.HasPrefix(id, "pg_") {
		w.last, _ = result["slug"].(string)
	}
}

var (
	question   = regexp.MustCompile(`(?m)"([^"\n]*)"(?:: | could be )(.*)\. (?:Do you mean it|Say which one)`)
	candidates = regexp.MustCompile(`\(([^ ()]+)\)`)
)

// answered returns the requests from the one on that the model has asked about, with the answer in
// it; nil if this is no answer to a question.
func (w *turn) answered(before []provider.Message, said []request) []request {
	if len(said) != 1 || len(before) == 0 {
		return nil
	}
	asked := question.FindStringSubmatch(before[len(before)-1].Text())
	if asked == nil {
		return nil
	}
	all := candidates.FindAllStringSubmatch(asked[2], -1)
	for _, c := range all {
		if !strings.EqualFold(said[0].text, c[1]) && !(len(all) == 1 &&
			slices.Contains([]string{"yes", "yes, do it", "that one"}, strings.ToLower(said[0].text))) {
			continue
		}
		todo := requests(before[newestOf(before)].Text())
		for i := range todo {
			if s := todo[i].scenario; s != nil && s.find != "" && todo[i].slots[s.find] == asked[1] {
				todo[i].slots[s.find] = c[1]
				return todo[i:]
			}
		}
	}
	return nil
}

// answer carries out all requests of a message, and checks what was planned.
func (w *turn) answer(todo []request) move {
	var said []string
	for i := 0; i < len(todo) || i == len(todo) && w.planned != nil; i++ {
		r := request{scenario: &checking, slots: map[string]any{"planned": w.planned, "plan": w.plan}}
		if i < len(todo) {
			r = todo[i]
		}
		m := w.carryOut(r)
		if m.tool != "" {
			return m
		}
		if m.text != "" {
			said = append(said, m.text)
		}
		if m.asks { // later requests may depend on it
			break
		}
	}
	return move{text: cmp.Or(strings.Join(said, "\n"), help)}
}

// carryOut carries out one request.
func (w *turn) carryOut(r request) move {
	s := r.scenario
	if s == nil {
		return move{text: fmt.Sprintf("I don't understand %q. %s", r.text, help), asks: true}
	}
	steps, planned := s.calls, len(w.planned)
	if s.find != "" {
		what := cmp.Or(r.slots[s.find].(string), w.last)
		if what == "" {
			return move{text: "Which " + s.find + " do you mean? Name it, for example: show the page Home."}
		}
		r.slots["query"], r.slots["kind"], steps = what, s.find, append([]step{lookUp}, steps...)
	}
	for len(steps) > 0 {
		now := &steps[0]
		steps = steps[1:]
		if !w.offered[now.tool] && now.without != nil {
			steps = append(slices.Clone(now.without), steps...)
			continue
		}
		doing, input := r.fill(now.doing), r.input(now)
		if !w.offered[now.tool] && w.offered["cms.validatePlan"] {
			w.planned = append(w.planned, map[string]any{"tool": now.tool, "input": input})
			w.plan += fmt.Sprintf("%d. %s\n", len(w.planned), doing)
			continue
		}
		if !w.offered[now.tool] {
			return move{
				text: fmt.Sprintf(
					"I can't do that here: it needs %s, which isn't available in this mode. The mode cms-crud has it.",
					now.tool)}
		}
		if len(w.past) == 0 || w.past[0].Name != now.tool {
			raw, _ := json.Marshal(input) // it was decoded from JSON
			return move{think: "I " + doing + ".", tool: now.tool, input: raw}
		}
		result, said := w.past[0], text(w.past[0])
		w.past = w.past[1:]
		free := taken.FindStringSubmatch(said)
		switch want, suggested := strings.CutPrefix(said, suggestion); {
		case suggested:
			return w.other(strings.TrimSpace(want), r.fill(now.instead))
		case result.Error && now.free != "" && free != nil:
			r.slots["was"], r.slots[now.free] = cmp.Or(r.slots["was"], any(free[1])), free[2]
			steps = append([]step{*now}, steps...)
			continue
		case now.lacks != "" && strings.Contains(said, now.lacks):
			r.slots["otherwise"], steps = true, append([]step{*now.otherwise}, steps...)
			continue
		case result.Error:
			return move{text: r.note() + failed(doing, said)}
		}
		r.slots["text"], r.slots["result"] = said, decoded(result)
		if now.tool == "plan.choose" {
			r.carriedOut(said)
		}
		w.mentioned(decoded(result))
		stop, asks := r.fill(now.stop), false
		if now.doing == lookUp.doing {
			stop, asks = w.resolve(r, said)
		}
		if stop != "" {
			return move{text: r.note() + stop, asks: asks}
		}
	}
	if len(w.planned) > planned {
		return move{}
	}
	return move{text: r.note() + r.fill(s.reply)}
}

var (
	planTitle  = regexp.MustCompile(`(?m)^# (.*)$`)
	planFailed = regexp.MustCompile(`(?m)^Plan "([^"]*)"`)
	planAnswer = regexp.MustCompile(`(?m)^create answered: (.*)$`)
)

// carriedOut takes what came of a plan: its title, the plan that failed before it, and the answer
// of its step "create".
func (r request) carriedOut(said string) {
	for slot, found := range map[string]*regexp.Regexp{"plan": planTitle, "was": planFailed} {
		if m := found.FindStringSubmatch(said); m != nil {
			r.slots[slot] = m[1]
		}
	}
	if m := planAnswer.FindStringSubmatch(said); m != nil {
		var result map[string]any
		if json.Unmarshal([]byte(m[1]), &result) == nil {
			r.slots["result"] = result
		}
	}
}

// other carries out what a person wants instead of a call, or proposes something.
func (w *turn) other(want, instead string) move {
	said := "You rejected that and suggested: " + strings.TrimRight(want, ".") + ".\n"
	if other := requests(want); len(other) == 1 && other[0].scenario != nil {
		m := w.carryOut(other[0])
		m.text = said + m.text
		return m
	}
	said += "I don't understand that as a request, so I changed nothing."
	if instead != "" {
		said += fmt.Sprintf(" Instead I could do this: say %q.", instead)
	}
	return move{text: said + ` Say "help" to see what I understand.`}
}

// A found is a result of a look-up.
type found struct{ Kind, Slug, Name, Match, Why string }

// foundIn returns the results of a look-up that are of a kind, or of any.
func foundIn(text, kind string) (all []found) {
	for _, l := range index.Lines(text) {
		if len(l.Aliases) > 0 && (kind == "" || l.Kind == kind) {
			all = append(all, found{l.Kind, l.Aliases[0], l.Name, l.Match, l.Why})
		}
	}
	return all
}

// resolve takes the result of a look-up. It returns what to say if the request stops there, and
// whether that is a question.
func (w *turn) resolve(r request, said string) (stop string, asks bool) {
	kind, what := r.scenario.find, r.slots["query"].(string)
	fit, others := foundIn(said, kind), foundIn(said, "")
	switch {
	case len(others) == 0:
		return fmt.Sprintf("I found no %s like %q.", kind, what), false
	case len(fit) == 0:
		return fmt.Sprintf("I found no %s like %q. There is the %s %q (%s).", kind, what, others[0].Kind,
			others[0].Name, others[0].Slug), false
	}
	it := fit[0]
	var rivals []string
	for _, f := range fit {
		if f.Slug == what { // it is unique
			it, rivals = f, nil
			it.Match = index.MatchExact
			break
		}
		if f.Match == index.MatchRival {
			rivals = append(rivals, fmt.Sprintf("%q (%s)", f.Name, f.Slug))
		}
	}
	if last := len(rivals) - 1; last > 0 {
		return fmt.Sprintf("%q could be %s or %s. Say which one, by the name in brackets.", what,
			strings.Join(rivals[:last], ", "), rivals[last]), true
	}
	if it.Match == index.MatchUnsure && !r.scenario.guess {
		return fmt.Sprintf("I'm not sure which %s is %q: %q (%s) fits best. Do you mean it? Say yes, or another name.",
			kind, what, it.Name, it.Slug), true
	}
	if kind == "page" {
		w.last = it.Slug
	}
	r.slots["name"], r.slots["slug"], r.slots["match"] = it.Name, it.Slug, it.Match
	return "", false
}

// note says what a name was taken to mean, if that isn't obvious.
func (r request) note() string {
	what, name, match := r.slots["query"], r.slots["name"], r.slots["match"]
	switch said := fmt.Sprintf("I took %q to mean the %s %q", what, r.slots["kind"], name); {
	case match == index.MatchUnsure:
		return said + ", and am not sure of that. "
	case match == nil || match == index.MatchExact &&
		(strings.EqualFold(fmt.Sprint(what), fmt.Sprint(name)) || slugged(what) == r.slots["slug"]):
		return ""
	default:
		return said + ". "
	}
}

func slugged(name any) string { return strings.ToLower(strings.ReplaceAll(fmt.Sprint(name), " ", "-")) }
