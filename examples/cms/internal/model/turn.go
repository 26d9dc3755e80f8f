package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A call is a call of a tool, and its result if it has one.
type call struct {
	tool   string
	input  map[string]any
	result string
	failed bool
}

// reads reports whether a call changes nothing.
func (c call) reads() bool { return readers.MatchString(c.tool) }

var readers = regexp.MustCompile(`^cms\.(get|list|find|preview|validate)|^http\.`)

// A turn answers one message of a person. Each model call goes through it from its beginning: calls
// that were made have their results, and those that come next end it.
type turn struct {
	offered map[string]bool
	past    []call   // for this message, in order
	used    int      // how many of them the turn has come by
	before  [][]call // for each message before it
	said    string   // the last answer
	file    string   // that was uploaded with the message
	edited  string   // what a person changed in the calls for this message

	next    []call
	doing   string            // what the next calls do, as in "I couldn't …"
	made    map[string]string // the addresses of new pages, by name in lower case
	plan    []call            // what would be done, in a mode that only plans
	steps   []string          // what these do
	want    string            // what a person wants instead of a call
	instead string            // what is offered if that isn't known
}

var (
	uploaded = regexp.MustCompile(`(?m)^Uploaded file: (.*)$`)
	theFile  = regexp.MustCompile(`(?i)^(please )?(put|use) (?:(?:the|this|that) (?:picture|file)|it|this|that) `)
	offer    = regexp.MustCompile("(?m)^- `([^`]*)`$")
)

// An ending is a sentence for the person that ends a turn in place of an answer.
type ending string

func (s ending) Error() string { return string(s) }

// errNext ends a turn: calls come first.
var errNext = errors.New("calls come first")

// decide returns the calls that come next and what they are for, or the answer.
func decide(req *provider.Request) (next []call, text string) {
	t := &turn{offered: map[string]bool{}, made: map[string]string{}}
	for _, tool := range req.Tools {
		t.offered[tool.Name] = true
	}
	messages := req.Messages
	limit := req.ToolChoice.Mode == provider.ChooseNone // the last message says so
	if limit && len(messages) > 0 {
		messages = messages[:len(messages)-1]
	}
	message, answered, inputs := "", "", map[string]map[string]any{}
	for i := range messages {
		m := &messages[i]
		_, parts := memory.Told(m) // without what the agent tells of the message before
		first := slices.IndexFunc(parts, func(p provider.Part) bool { return p.Kind == provider.PartText })
		switch {
		case memory.IsGap(m) || memory.IsHostMessage(m): // nobody said that
		case m.Role == provider.RoleUser && first >= 0:
			message, t.said = parts[first].Text, answered // the parts after it are about the screen
			t.before, t.past, t.edited = append(t.before, t.past), nil, ""
		case m.Role == provider.RoleAssistant && first >= 0:
			answered = m.Text()
		}
		for _, p := range m.Parts {
			if p.Call != nil {
				inputs[p.Call.ID] = object(string(p.Call.Input))
			}
			if r := p.Result; r != nil && len(r.Parts) > 0 {
				t.past = append(t.past, call{r.Name, inputs[r.CallID], strings.TrimSpace(r.Parts[0].Text), r.Error})
				for _, note := range r.Parts[1:] {
					if strings.HasPrefix(note.Text, "Note: a person changed") {
						t.edited += "\n\n" + note.Text
					}
				}
			}
		}
	}
	if limit {
		return nil, fmt.Sprintf("This run is at its limit, so I stop here, after %d calls. Ask again for what is left.",
			len(t.past))
	}
	text = t.answer(strings.ToValidUTF8(message, "\uFFFD")) // as it comes back in JSON
	return t.next, text
}

// answer answers a message. If calls come first, it returns what they are for.
func (t *turn) answer(said string) string {
	if m := uploaded.FindStringSubmatch(said); m != nil {
		t.file = m[1]
		said = strings.TrimSpace(uploaded.ReplaceAllString(said, ""))
		said = theFile.ReplaceAllString(said, `${1}${2} "`+strings.ReplaceAll(t.file, "$", "$$")+`" `)
	}
	asked, _, _ := strings.Cut(t.said, "\n- `")
	if offers := offer.FindAllStringSubmatch(t.said, -1); len(offers) == 1 && strings.HasSuffix(asked, "?") {
		switch strings.ToLower(strings.Trim(said, ".! ")) {
		case "yes", "yes please", "yes, please", "ok", "sure", "do it":
			said = offers[0][1]
		case "no", "no thanks", "no, thanks":
			return "All right, I leave it as it is."
		}
	}
	text, err := t.run(read(said))
	if err == nil && len(t.plan) > 0 {
		text, err = t.propose()
	}
	switch {
	case errors.Is(err, errNext):
		return "I " + t.doing + "."
	case err != nil:
		text = strings.TrimPrefix(text+"\n\n"+err.Error(), "\n\n")
	}
	return text + t.edited
}

// run carries out requests, one after the other, and returns what came of them. If it doesn't know
// all of them, it carries out none.
func (t *turn) run(all []*request) (string, error) {
	if len(all) == 0 {
		return t.unknown()
	}
	var texts []string
	for i, r := range all {
		text, err := t.do(r)
		if errors.Is(err, errNext) {
			return "", err
		}
		if err != nil {
			text = err.Error()
		}
		if texts = append(texts, text); err == nil || r.tool == "http.fetch" { // nothing depends on that
			continue
		}
		if left := len(all) - i - 1; left > 0 {
			texts = append(texts, fmt.Sprintf("I stopped there. Not done: %d more of what you asked for.", left))
		}
		if want := read(t.want); len(want) > 0 {
			t.want = ""
			text, err = t.run(want)
			return strings.Join(append(texts, text), "\n\n"), err
		} else if t.want != "" && t.instead != "" {
			texts = append(texts, "I could do this:\n- `"+t.instead+"`")
		}
		t.plan = nil
		break
	}
	return strings.Join(texts, "\n\n"), nil
}

// call returns the result of a call. The error is errNext if it has none yet, and otherwise says
// why it failed.
func (t *turn) call(doing, tool string, input map[string]any) (string, error) {
	c := call{tool: tool, input: object(encoded(input))}
	switch {
	case t.offered[tool]:
	case c.reads() || !t.offered["cms.validatePlan"] || tool == "plan.submit":
		return "", ending("I can't " + doing + " here. The mode Edit can. Nothing was changed.")
	default:
		t.plan, t.steps = append(t.plan, c), append(t.steps, doing)
		return "", nil
	}
	if t.used == len(t.past) {
		t.next, t.doing = []call{c}, doing
		return "", errNext
	}
	done := t.past[t.used]
	if t.used++; done.tool != tool || !reflect.DeepEqual(done.input, c.input) {
		return "", ending("I don't see any more what was done of this, so I stop.")
	}
	if done.failed {
		return done.result, ending(t.failure(doing, done.result))
	}
	return done.result, nil
}

// failure says that a call failed; doing is as in "I couldn't delete the page".
func (t *turn) failure(doing, text string) string {
	text, refused := strings.CutPrefix(text, "The call wasn't run: ")
	refused = refused || strings.HasPrefix(text, "A person ")
	if want, ok := strings.CutPrefix(text, "A person rejected this call and suggests instead:"); ok {
		t.want = strings.TrimSpace(want)
		return "You rejected that, and suggested: " + t.want
	}
	if _, cause, of := strings.Cut(text, `" failed: `); of && strings.HasPrefix(text, "run: ") { // a step of a plan
		text, _, _ = strings.Cut(cause, "\n")
	}
	text = fmt.Sprintf("I couldn't %s: %s.", doing, strings.TrimRight(text, ". "))
	if refused && !changed(t.past) {
		text += " Nothing was changed."
	}
	return text
}

// changed reports whether calls have changed something.
func changed(calls []call) bool {
	return slices.ContainsFunc(calls, func(c call) bool { return !c.failed && !c.reads() })
}

// object decodes a result; one that isn't an object has nothing.
func object(text string) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal([]byte(text), &out)
	return out
}

func encoded(v any) string {
	text, _ := json.Marshal(v) // it is made of texts and numbers
	return string(text)
}
