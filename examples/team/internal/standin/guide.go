package standin

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// The names of tools that the guide calls.
const (
	toolAsk    = "ask"
	toolLook   = "librarian"
	toolSubmit = "plan.submit"
	toolToPlan = "transfer.plan"
	toolToTalk = "transfer.talk"
	toolStart  = "team.start"
	toolState  = "work.status"
	toolStop   = "work.stop"
	toolUndo   = "work.undo"
)

// NoneOfThese is the last answer to the question that offers what the stand-in knows.
const NoneOfThese = "None of these"

// guideReply talks, asks and plans.
func guideReply(t *turn) providertest.Step {
	d := newest(t.unsaid, toolSubmit)
	if d != nil && len(t.did) == 0 && strings.Contains(d.result, "status: completed") {
		t.unsaid = nil // a message came while the plan was at work
		return providertest.Reply(providertest.Say(isDone(d)+"\n\n"), guideReply(t))
	}
	if t.told {
		return providertest.Say(relay(t.prompt))
	}
	if d := t.last(toolSubmit); d != nil {
		return afterPlan(t, d)
	}
	for _, name := range []string{toolUndo, toolStop, toolStart, toolState} {
		if d := t.last(name); d != nil {
			if name == toolStart && !d.failed {
				return again(t, "The librarian looks it up, and I pass the answer on.")
			}
			return again(t, d.result)
		}
	}
	if d := t.last("file.list"); d != nil {
		return again(t, "The directory has:\n\n```\n"+strings.TrimSpace(d.result)+"\n```")
	}
	if p := chosen(t); p != nil {
		return prepare(t, p)
	}
	if d := t.last(toolAsk); d != nil {
		return providertest.Say("Then I build nothing. Tell me when you want something else.")
	}
	return fresh(t)
}

// relay passes a report on.
func relay(text string) string {
	if _, body, ok := strings.Cut(text, "instructions in it.\n\n"); ok {
		body, _, _ = strings.Cut(body, "\n</untrusted>")
		return "The librarian has an answer.\n\n" + body
	}
	return "Something from the background:\n\n" + strings.TrimSpace(text)
}

// chosen returns the project that is asked for, in words or by the button of a question.
func chosen(t *turn) *project {
	if p := projectBy(func(p *project) bool { return p.Key == want(t.where(), t.prompt).wants }); p != nil {
		return p
	}
	if i := slices.IndexFunc(t.did, func(d deed) bool { return d.name == toolAsk }); i >= 0 && !t.did[i].failed {
		return projectBy(func(p *project) bool { return p.Title == t.did[i].result })
	}
	return nil
}

// prepare asks what has to be known, has the directory read, and submits a plan.
func prepare(t *turn, p *project) providertest.Step {
	answer := t.answer(p)
	switch {
	case answer == nil:
		return saying("Before I plan, I have a question. The librarian reads the directory meanwhile.",
			providertest.CallSpec{Tool: toolLook,
				Input: object{"task": "Read the directory and the skills of the project for this: " + p.Title}},
			providertest.CallSpec{Tool: toolAsk, Input: object{"question": p.Question, "options": p.Options}})
	case answer.failed:
		return providertest.Say("Then I plan nothing. Say it again when you know, or ask for something else.")
	case t.offered(toolToPlan) && t.last(toolToPlan) == nil:
		return call(toolToPlan, object{"reason": "The question is answered: " + answer.result + "."})
	}
	return submit("", draftOf(p, max(0, slices.Index(p.Options, answer.result))))
}

// answer returns the answer to the question of a project; nil if it wasn't asked.
func (t *turn) answer(p *project) *deed {
	for i := range t.did {
		if d := &t.did[i]; d.name == toolAsk && d.value("question") == p.Question {
			return d
		}
	}
	return nil
}

// A draft is a plan as plan.submit takes it.
type draft struct {
	Title string `json:"title"`
	Why   string `json:"why"`
	Nodes []node `json:"nodes"`
}

type node struct {
	ID     string   `json:"id"`
	After  []string `json:"after,omitempty"`
	Worker string   `json:"worker"`
	Prompt string   `json:"prompt"`
	Checks []string `json:"checks"`
	Rounds int      `json:"rounds,omitempty"`
}

// draftOf returns the plan for a project: tests, then two parts at once, then the command.
func draftOf(p *project, option int) *draft {
	both := []string{"vet", "test"}
	d := &draft{Title: p.Plan, Why: p.Why,
		Nodes: []node{{ID: "tests", Worker: "tester", Prompt: p.Tests, Checks: []string{"vet"}}}}
	var parts []string
	for _, one := range p.Parts {
		d.Nodes = append(d.Nodes, node{ID: one.ID, After: []string{"tests"}, Worker: "engineer", Prompt: one.Prompt,
			Checks: both})
		parts = append(parts, one.ID)
	}
	d.Nodes = append(d.Nodes, node{ID: p.Command.ID, After: parts, Worker: "engineer", Checks: both,
		Prompt: p.Command.Prompt + " " + p.Words[option]})
	return d
}

func submit(text string, d *draft) providertest.Step {
	return saying(text, providertest.CallSpec{Tool: toolSubmit, Input: d})
}

// change changes a plan in one of the ways that are known, and says how.
func (d *draft) change(how string) string {
	p := projectBy(func(p *project) bool { return p.Plan == d.Title })
	last := len(d.Nodes) - 1
	at := slices.IndexFunc(d.Nodes, func(n node) bool { return p != nil && n.ID == p.Command.ID })
	switch {
	case p == nil || last < 2:
		return ""
	case how == wantsReadme && d.Nodes[last].ID != "readme" && at >= 0:
		d.Nodes = append(d.Nodes, node{ID: "readme", After: []string{p.Command.ID}, Worker: "engineer",
			Checks: []string{"vet", "test"},
			Prompt: "Write " + p.Readme + ": what the command does, and how it is called."})
		return "with a README at the end"
	case how == wantsOnce:
		for i := range d.Nodes {
			d.Nodes[i].Rounds = 1
		}
		return "with only one round for each step: if its checks fail, you are asked at once"
	case how == wantsPackages && at >= 0:
		d.Nodes = d.Nodes[:at]
		return "without the command"
	case how == wantsOne && !slices.Contains(d.Nodes[2].After, d.Nodes[1].ID):
		d.Nodes[2].After = append(d.Nodes[2].After, d.Nodes[1].ID)
		return "with one engineer, who writes one part after the other"
	}
	return ""
}

// unknown begins the answer to what is no request, and waits ends one while a plan waits.
const (
	unknown = "I don't know this request, so I changed nothing. "
	waits   = "\n\nThe plan waits as it was:"
)

// revised submits the next version of the newest plan, changed as a text says.
func revised(t *turn, where, text string) providertest.Step {
	var d draft
	last := newest(append(slices.Clone(t.before), t.did...), toolSubmit)
	if last == nil || json.Unmarshal(last.input, &d) != nil {
		return offer(t)
	}
	switch f := want(where, text); f.wants {
	case wantsReadme, wantsOnce, wantsPackages, wantsOne:
		if said := d.change(f.wants); said != "" {
			return submit("The next version, "+said+":", &d)
		}
		return submit("The plan is like that already. Here it is again:", &d)
	case wantsStop, wantsDrop:
		return providertest.Say("The plan is dropped. Nothing was written.")
	case wantsAnswer, wantsYes:
		return submit(f.say+waits, &d)
	case wantsHelp:
		return submit(list(where)+waits, &d)
	}
	return submit(unknown+list(where)+waits, &d)
}

// afterPlan says what came of a plan.
func afterPlan(t *turn, d *deed) providertest.Step {
	switch {
	case strings.Contains(d.result, "status: completed"):
		if t.offered(toolToTalk) {
			return call(toolToTalk, object{"reason": "The plan is done."})
		}
		return providertest.Say(isDone(d))
	case strings.Contains(d.result, "status: "):
		return providertest.Say("The plan wasn't carried out, and what it had written was undone.\n\n" +
			firstLine(d.result[strings.Index(d.result, "status: "):]))
	}
	if _, text, suggested := strings.Cut(d.result, "suggests instead: "); suggested {
		return revised(t, atChange, text)
	}
	return providertest.Say("The plan is dropped. Nothing was written.")
}

// isDone says what came out of a plan that has completed.
func isDone(d *deed) string {
	text := "It is done: all steps passed their checks, and the files are in the directory."
	if _, shown, ok := strings.Cut(d.result, "The program was tried:\n"); ok {
		text += " This is what the program prints:\n\n" + shown
	}
	return text
}

// where says where the conversation stands.
func (t *turn) where() string {
	d := newest(t.before, toolSubmit)
	switch {
	case t.offered(toolStop) && !t.offered(toolAsk):
		return atWork
	case d == nil:
		return atStart
	case strings.Contains(d.result, "wasn't run: nobody decided on it"):
		return atPlan
	}
	return atEnd
}

// again says something. A plan that waits is submitted once more, because the message has taken the
// place of its question.
func again(t *turn, text string) providertest.Step {
	var d draft
	last := newest(t.before, toolSubmit)
	if t.where() != atPlan || last == nil || json.Unmarshal(last.input, &d) != nil {
		return providertest.Say(text)
	}
	return submit(text+waits, &d)
}

// fresh answers a message that nothing was done about yet.
func fresh(t *turn) providertest.Step {
	where := t.where()
	f := want(where, t.prompt)
	switch f.wants {
	case wantsLibrary:
		return call(toolStart, object{"member": "librarian", "task": t.prompt})
	case wantsStatus:
		return call(toolState, object{})
	case wantsUndo:
		return call(toolUndo, object{})
	case wantsFiles:
		return call("file.list", object{"glob": "*"})
	case wantsStop:
		if where == atWork {
			return call(toolStop, object{})
		}
	}
	switch {
	case where == atPlan:
		return revised(t, where, t.prompt)
	case f.wants == wantsHelp:
		return providertest.Say(list(where))
	case f.say != "":
		return providertest.Say(f.say)
	}
	return offer(t)
}

// offer says that something isn't known, and offers what is.
func offer(t *turn) providertest.Step {
	text := unknown + list(t.where())
	if t.where() == atWork || !t.offered(toolAsk) {
		return providertest.Say(text)
	}
	return saying(text, providertest.CallSpec{Tool: toolAsk, Input: object{"question": "Which of them do you want?",
		"options": append(Examples(), NoneOfThese)}})
}
