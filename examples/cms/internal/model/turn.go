package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A turn answers one message of a person: see the package comment.
type turn struct {
	offered map[string]bool
	past    []exchange // the calls that were made for this request, with their results
	at      int        // how many of them have been used

	last string // the slug of the page mentioned last

	// why the current request stops; at most one is set
	next      *move  // a call that has to be made first
	instead   string // the answer to the request
	suggested string // a person's suggestion in place of the call
}

// An exchange is a call and its result.
type exchange struct {
	call   *provider.ToolCall
	result *provider.ToolResult
}

// decide returns the model's next move.
func decide(req *provider.Request) move {
	messages := req.Messages
	if req.ToolChoice.Mode == provider.ChooseNone { // a limit was reached; the last message says so
		return move{text: standing(exchanges(messages[:max(len(messages)-1, 0)]))}
	}
	w := &turn{offered: make(map[string]bool), past: exchanges(messages)}
	for _, t := range req.Tools {
		w.offered[t.Name] = true
	}
	w.last = lastPage(messages)
	return w.answer(req.LastUserText())
}

// exchanges returns the calls since the newest message of a person.
func exchanges(messages []provider.Message) []exchange {
	from := len(messages)
	for from > 0 && messages[from-1].Role != provider.RoleUser {
		from--
	}
	var past []exchange
	for i := range messages[from:] {
		m := &messages[from+i]
		for _, c := range m.Calls() {
			past = append(past, exchange{call: c})
		}
		for _, p := range m.Parts {
			if p.Kind != provider.PartToolResult || p.Result == nil {
				continue
			}
			if j := slices.IndexFunc(past, func(e exchange) bool { return e.call.ID == p.Result.CallID && e.result == nil }); j >= 0 {
				past[j].result = p.Result
			}
		}
	}
	return slices.DeleteFunc(past, func(e exchange) bool { return e.result == nil })
}

// lastPage returns the slug of the page that was mentioned last before the newest request.
func lastPage(messages []provider.Message) string {
	newest := len(messages) - 1
	for newest >= 0 && messages[newest].Role != provider.RoleUser {
		newest--
	}
	for i := newest - 1; i >= 0; i-- {
		for _, p := range messages[i].Parts {
			if p.Result == nil || p.Result.Error {
				continue
			}
			var pg page
			if decodeFirst(p.Result, &pg) == nil && strings.HasPrefix(pg.ID, "pg_") {
				return pg.Slug
			}
		}
	}
	return ""
}

// answer carries out all requests of one message.
func (w *turn) answer(text string) move {
	var said []string
	for _, clause := range clauses(text) {
		r, ok := parse(clause)
		if !ok {
			said = append(said, notUnderstood(clause))
			break // later requests may depend on it
		}
		s := w.follow(r)
		if w.next != nil {
			return *w.next
		}
		said = append(said, s)
	}
	if len(said) == 0 {
		said = append(said, Help())
	}
	return move{text: strings.Join(said, "\n")}
}

// follow carries out one request, and a person's suggestion in its place.
func (w *turn) follow(r request) string {
	lead := ""
	for {
		text := r.do(w)
		switch {
		case w.next != nil:
			return ""
		case w.instead != "":
			text, w.instead = w.instead, ""
			return lead + text
		case w.suggested == "":
			return lead + text
		}
		want := w.suggested
		w.suggested = ""
		lead += "You rejected that and suggested: " + sentence(want) + "\n"
		all := clauses(want)
		var ok bool
		if len(all) == 1 {
			r, ok = parse(all[0])
		}
		if !ok {
			return lead + "I don't understand that as a request, so I changed nothing. Say \"help\" to see what I understand."
		}
	}
}

// An answer is the result of a call.
type answer struct {
	ok     bool
	result *provider.ToolResult
}

// call returns the result of a call, or nil if the request stops for now: the call has to be made next, or a person wants something else.
func (w *turn) call(think, tool string, input map[string]any) *answer {
	if !w.offered[tool] {
		w.instead = fmt.Sprintf("I can't do that here: it needs %s, which isn't available in this mode. The mode cms-crud has it.", tool)
		return nil
	}
	if w.at < len(w.past) && w.past[w.at].call.Name == tool {
		e := w.past[w.at]
		w.at++
		a := &answer{ok: !e.result.Error, result: e.result}
		if rest, ok := strings.CutPrefix(a.text(), suggestion); ok {
			w.suggested = strings.TrimSpace(rest)
			return nil
		}
		return a
	}
	raw, err := json.Marshal(input)
	if err != nil { // can't happen: strings, lists and maps
		w.instead = "I couldn't encode the call:  " + err.Error()
		return nil
	}
	w.next = &move{think: think, call: &call{tool: tool, input: raw}}
	return nil
}

// write is call for tools that write. In a planning mode it only validates the plan.
func (w *turn) write(think, tool string, input map[string]any) *answer {
	if w.offered[tool] || !w.offered[validatePlan] {
		return w.call(think, tool, input)
	}
	a := w.call(think+" In this mode I only plan, so I check the plan.", validatePlan,
		map[string]any{"operations": []any{map[string]any{"tool": tool, "input": input}}})
	if a == nil {
		return nil
	}
	raw, _ := json.Marshal(input)
	text := fmt.Sprintf("The plan is one call: %s %s\n", tool, raw)
	var report struct {
		Valid               bool
		Issues, Suggestions []string
	}
	switch {
	case !a.ok || a.decode(&report) != nil:
		text += "It couldn't be checked: " + a.text()
	case report.Valid:
		text += "I tried it on a copy of the site, and it works."
	default:
		text += "I tried it on a copy of the site, and it doesn't work:"
		for _, issue := range report.Issues {
			text += "\n- " + issue
		}
	}
	for _, s := range report.Suggestions {
		text += "\nNote: " + s
	}
	w.instead = text + "\nNothing was changed. In the mode cms-crud I carry it out."
	return nil
}

// The beginnings of results of calls that a person or a rule kept from running.
const (
	suggestion = "A person rejected this call and suggests instead:"
	rejection  = "A person rejected this call."
	notRun     = "The call wasn't run: "
)

// text returns the result without the notes at its end.
func (a *answer) text() string {
	for _, p := range a.result.Parts {
		if p.Kind == provider.PartText {
			return strings.TrimSpace(p.Text)
		}
	}
	return ""
}

// decode reads a result. Notes may follow the JSON.
func (a *answer) decode(v any) error { return decodeFirst(a.result, v) }

func decodeFirst(r *provider.ToolResult, v any) error {
	return json.NewDecoder(strings.NewReader(r.Text())).Decode(v)
}

// failed describes a failed call; doing is as in "I couldn't delete the page".
func (a *answer) failed(doing string) string {
	text, _, _ := strings.Cut(a.text(), "\n{") // the observation of a conflict says the same
	switch {
	case strings.HasPrefix(text, rejection):
		reason := strings.TrimSpace(strings.TrimPrefix(text, rejection))
		if reason != "" {
			reason = " (" + strings.TrimSuffix(reason, ".") + ")"
		}
		return fmt.Sprintf("I didn't %s, because you rejected it%s. Nothing was changed.", doing, reason)
	case strings.Contains(text, "rejected: expired"):
		return fmt.Sprintf("I didn't %s: nobody approved it in time. Nothing was changed.", doing)
	case strings.HasPrefix(text, notRun):
		return fmt.Sprintf("I couldn't %s: %s", doing, sentence(strings.TrimPrefix(text, notRun)))
	case strings.Contains(text, "not known whether"):
		return fmt.Sprintf("I don't know whether I managed to %s. Check before you ask again: %s", doing, sentence(text))
	}
	return fmt.Sprintf("I couldn't %s: %s", doing, sentence(text))
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// standing summarizes the calls when no more are allowed.
func standing(past []exchange) string {
	var done, open []string
	for _, e := range past {
		if e.result.Error {
			open = append(open, e.call.Name)
		} else {
			done = append(done, e.call.Name)
		}
	}
	text := "This run is at its limit, so I stop here."
	if len(done) > 0 {
		text += " These calls succeeded: " + strings.Join(done, ", ") + "."
	}
	if len(open) > 0 {
		text += " These didn't: " + strings.Join(open, ", ") + "."
	}
	return text + " Ask again for what is left."
}
