package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	Required    []string          `json:"required"`
	Description string            `json:"description"`
}

// A rejected is the wish to give no answer.
type rejected struct{ reason string }

func (r *rejected) Error() string { return "rejected: " + r.reason }

// answer asks a question of a tool. The agent validates the answer.
func (u *ui) answer(ctx context.Context, p *agent.Pause) (agent.Decision, error) {
	var s schema
	_ = json.Unmarshal(p.Schema, &s) // one that can't be read asks for a text
	u.hidden = p.Kind == machine.PauseSecret
	defer func() { u.hidden = false }()
	value, err := u.value(ctx, "Answer", &s, false)
	if no, ok := errors.AsType[*rejected](err); ok {
		return agent.Reject(p.ID, no.reason), nil
	}
	return agent.Answer(p.ID, value), err
}

// value asks for a value of a schema; nil if it is optional and was left out.
func (u *ui) value(ctx context.Context, name string, s *schema, optional bool) (any, error) {
	if s.Description != "" {
		u.out.line("  %s", clean(s.Description))
	}
	if s.Type == "boolean" {
		s.Enum = []any{true, false}
	}
	switch {
	case len(s.Properties) > 0:
		object := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			part := s.Properties[name]
			v, err := u.value(ctx, name, &part, !slices.Contains(s.Required, name))
			if err != nil {
				return nil, err
			}
			if v != nil {
				object[name] = v
			}
		}
		return object, nil
	case len(s.Enum) > 0 && !optional:
		i, err := u.number(ctx, s.Enum, reject, slash)
		if err == nil && i == len(s.Enum) {
			why, err := u.line(ctx, "Why? (optional) ", "")
			return nil, cmp.Or(err, error(&rejected{why}))
		}
		return s.Enum[min(i, len(s.Enum)-1)], err
	case optional:
		name += " (optional)"
	}
	for {
		text, err := u.line(ctx, clean(name)+": ", "")
		reason, no := strings.CutPrefix(text, "/reject")
		name, _, slashed := command(text)
		switch {
		case err != nil:
			return nil, err
		case no:
			return nil, &rejected{strings.TrimSpace(reason)}
		case slashed && strings.HasPrefix(text, "/") && !u.hidden &&
			slices.ContainsFunc(u.commands(), func(c Command) bool { return c.Name == name }):
			return nil, u.atQuestion(ctx, text)
		case text == "" && optional:
			return nil, nil
		case text == "":
			u.out.line("Type an answer, or /reject and why.")
		case s.Type != "string" && (s.Type != nil || !u.hidden) && json.Valid([]byte(text)):
			return json.RawMessage(text), nil
		default:
			return text, nil
		}
	}
}

// number shows numbered choices and waits for one, or for one of others, which come after them.
func (u *ui) number(ctx context.Context, values []any, others ...choice) (int, error) {
	var all []choice
	for i, v := range values {
		n, text := strconv.Itoa(i+1), clean(fmt.Sprint(v))
		u.out.line("  %s  %s", n, text)
		all = append(all, choice{n, "", n, text})
	}
	return u.choose(ctx, append(all, others...))
}
