package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// A schema is the part of a JSON schema that says how to ask.
type schema struct {
	Type        any               `json:"type"`
	Enum        []any             `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Description string            `json:"description"`
}

// answer asks a question of a tool. Of an object with one property it asks for that, and of others
// for JSON. The agent validates the answer.
func (u *ui) answer(ctx context.Context, p *agent.Pause) (none agent.Decision, err error) {
	var s schema
	_ = json.Unmarshal(p.Schema, &s) // one that can't be read asks for a text
	give, prompt := func(value any) agent.Decision { return agent.Answer(p.ID, value) }, "Answer"
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		u.out.line("  %s: %s", clean(name), clean(s.Properties[name].Description))
	}
	switch len(names) {
	case 0:
	case 1:
		s = s.Properties[names[0]]
		give = func(value any) agent.Decision { return agent.Answer(p.ID, map[string]any{names[0]: value}) }
	default:
		prompt = "Answer, as a JSON object in one line"
	}
	if s.Type == "boolean" {
		s.Enum = []any{true, false}
	}
	if len(s.Enum) > 0 {
		i, text, err := u.number(ctx, s.Enum, insteadOfAnswer, reject, slash)
		switch {
		case err != nil:
			return none, err
		case i < 0:
			return agent.Suggest(p.ID, text), nil
		case i < len(s.Enum):
			return give(s.Enum[i]), nil
		}
		why, err := u.line(ctx, "Why? (optional) ", &asking{leaves: true})
		return agent.Reject(p.ID, why), err
	}
	u.hidden = p.Kind == machine.PauseSecret
	defer func() { u.hidden = false }()
	for {
		q := &asking{fresh: true}
		text, kept := "", false
		if !u.hidden {
			text, kept = u.kept(asTheAnswer)
		}
		if !kept {
			text, err = u.line(ctx, prompt+": ", q)
		}
		for sent := false; err == nil && text != "" && (kept || q.early) && !isCommand(text) && !sent && !u.hidden; {
			next := ""
			if next, sent, err = u.confirm(ctx, asTheAnswer, text); !sent {
				text = next
			}
		}
		reason, no := strings.CutPrefix(text, "/reject")
		name, args, slashed := command(text)
		switch {
		case err != nil:
			return none, err
		case no:
			return agent.Reject(p.ID, strings.TrimSpace(reason)), nil
		case slashed && strings.HasPrefix(text, "/") && !u.hidden &&
			slices.ContainsFunc(u.commands(), func(c Command) bool { return c.Name == name }):
			return none, cmp.Or(u.command(ctx, name, args), errChanged)
		case text == "":
			u.out.line("Type an answer, or /reject and why.")
		case s.Type != "string" && (s.Type != nil || !u.hidden) && json.Valid([]byte(text)):
			return give(json.RawMessage(text)), nil
		default:
			return give(text), nil
		}
	}
}

// number shows numbered choices and waits for one, or for one of others, which come after them, as
// choose does.
func (u *ui) number(ctx context.Context, values []any, instead string, others ...choice) (int, string, error) {
	var all []choice
	for i, v := range values {
		n, text := strconv.Itoa(i+1), clean(fmt.Sprint(v))
		u.out.line("  %s  %s", n, text)
		all = append(all, choice{n, "", n, text})
	}
	return u.choose(ctx, append(all, others...), instead)
}

// isCommand reports whether a text is a command, which a question stays open for. /reject isn't
// one.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "/reject")
}
