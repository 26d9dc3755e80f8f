package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// explain prints the pending decisions and the commands that make them.
func (p *program) explain(out *screen, pending []agent.Pause) {
	for i := range pending {
		pause := &pending[i]
		if p.asked != pause.ID {
			describe(out, pause)
		}
		if pause.For != "" { // no person
			continue
		}
		base := fmt.Sprintf("  %s -db %s -resume %s -id %s -decide", self(), quoted(p.db), quoted(p.session), pause.ID)
		out.line("To continue, one of:")
		for _, choice := range choices(pause) {
			switch choice.decide {
			case "reject":
				out.line(`%s reject -reason "why"`, base)
			case "suggest":
				out.line(`%s suggest -reason "what to do instead"`, base)
			case "edit":
				input := string(pause.Call.Input)
				if input == "" {
					input = "{}"
				}
				out.line("%s edit -input %s", base, quoted(input))
			case "answer":
				out.line(`%s answer -input '"what it did"'`, base)
			default:
				out.line("%s %s", base, choice.decide)
			}
		}
	}
}

// describe prints a pause: the call, and why it needs a decision.
func describe(out *screen, pause *agent.Pause) {
	title := map[agent.PauseKind]string{
		agent.PauseApproval: "Approval needed", agent.PauseInDoubt: "It isn't known whether this call took effect",
		agent.PauseCorrection: "This call is invalid",
	}[pause.Kind]
	if title == "" {
		title = "Waiting (" + string(pause.Kind) + ")"
	}
	out.line("%s: %s", out.paint(bold, title), pause.Title)
	out.line("  tool:  %s", pause.Call.Name)
	out.line("  why:   %s", pause.Reason)
	if pause.For != "" {
		out.line("  waits for: %s", pause.For)
	}
	if pause.Risk != "" {
		out.line("  risk:  %s", pause.Risk)
	}
	if !pause.Expires.IsZero() {
		out.line("  until: %s", pause.Expires.Local().Format(time.TimeOnly))
	}
	out.line("  input: %s", indented(pause))
	if pause.Preview != "" {
		out.line("  it would change:\n%s", strings.TrimSuffix(pause.Preview, "\n"))
	}
}

// indented returns a pause's input as indented JSON.
func indented(pause *agent.Pause) string {
	if pause.Call.Invalid != "" {
		return pause.Call.Invalid
	}
	var b bytes.Buffer
	if json.Indent(&b, pause.Call.Input, "         ", "  ") != nil {
		return string(pause.Call.Input)
	}
	return b.String()
}

// A choice is a possible decision. For approvals, y and n are typed instead of the first two keys,
// too.
type choice struct{ key, decide, label string }

// choices returns the possible decisions on a pause.
func choices(pause *agent.Pause) []choice {
	reject, suggest, edit := choice{"r", "reject", "[r]eject"}, choice{"s", "suggest", "[s]uggest something else"},
		choice{"e", "edit", "[e]dit"}
	switch pause.Kind {
	case agent.PauseApproval:
		all := []choice{{"a", "approve", "[a]pprove"}, reject, suggest, edit}
		if pause.Always {
			all = append(all, choice{"A", "always", "[A]lways approve this tool here"})
		}
		return all
	case agent.PauseInDoubt:
		return []choice{{"a", "approve", "[a] run it again"}, {"r", "reject", "[r] don't run it"},
			{"w", "answer", "[w] say what it did"}}
	case agent.PauseCorrection:
		return []choice{edit, reject, suggest}
	}
	return []choice{{"w", "answer", "[w] answer"}, reject}
}

// decideAll gets a decision on each pause: approvals with -yes, otherwise from the person at the
// terminal. Without a terminal it returns none.
func (p *program) decideAll(pending []agent.Pause) ([]agent.Decision, error) {
	var all []agent.Decision
	for i := range pending {
		pause := &pending[i]
		switch {
		case pause.For != "": // who is named answers
		case p.yes && pause.Kind == agent.PauseApproval:
			all = append(all, agent.Approve(pause.ID).By(p.by+" (-yes)"))
		case p.person:
			d, err := p.ask(pause)
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			all = append(all, d.By(p.by))
		default:
			return nil, nil
		}
	}
	return all, nil
}

// ask asks until it gets a valid decision.
func (p *program) ask(pause *agent.Pause) (agent.Decision, error) {
	describe(p.out, pause)
	p.asked = pause.ID
	var labels []string
	for _, c := range choices(pause) {
		labels = append(labels, c.label)
	}
	for {
		said, err := p.read(strings.Join(labels, ", ") + ": ")
		if err != nil {
			return agent.Decision{}, err
		}
		d, ok, err := p.chosen(pause, said)
		if err != nil || ok {
			return d, err
		}
	}
}

// chosen turns the typed text into a decision; ok is false if it isn't one.
func (p *program) chosen(pause *agent.Pause, said string) (d agent.Decision, ok bool, err error) {
	if key, ok := map[string]string{"y": "a", "yes": "a", "n": "r", "no": "r"}[strings.ToLower(said)]; ok &&
		pause.Kind == agent.PauseApproval {
		said = key
	}
	decide := ""
	for _, c := range choices(pause) {
		if said == c.key || strings.EqualFold(said, c.decide) {
			decide = c.decide
			break
		}
	}
	more := func(prompt string) string {
		var text string
		text, err = p.read(prompt)
		return text
	}
	switch decide {
	case "approve":
		return agent.Approve(pause.ID), true, nil
	case "always":
		return agent.AllowAlways(pause.ID), true, nil
	case "reject":
		reason := more("Why? (optional) ")
		return agent.Reject(pause.ID, reason), true, err
	case "suggest":
		instead := more("What should be done instead? ")
		return agent.Suggest(pause.ID, instead), instead != "", err
	case "edit":
		input := []byte(more("New input, as JSON in one line: "))
		if err != nil {
			return d, false, err
		}
		fit, problem := p.agent.Tools().Fit(pause.Call.Name, input)
		if problem != nil {
			p.out.line("Not accepted: %v", problem)
			return d, false, nil
		}
		return agent.Edit(pause.ID, fit), true, nil
	case "answer":
		text := more("What did it do? ")
		return agent.Answer(pause.ID, text), text != "", err
	}
	p.out.line("Type one of the letters.")
	return d, false, nil
}
