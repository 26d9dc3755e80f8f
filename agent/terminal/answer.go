package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
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
	for {
		value, err := u.value(ctx, p, "Answer", &s, false)
		var no *rejected
		switch {
		case errors.As(err, &no):
			return agent.Reject(p.ID, no.reason), nil
		case !errors.Is(err, errInterrupt) || u.keys.file == nil:
			return agent.Answer(p.ID, value), err
		case u.twice("The question stays open. Another Ctrl-C ends the program."):
			return agent.Decision{}, io.EOF
		}
	}
}

// value asks for a value of a schema; nil if it is optional and was left out.
func (u *ui) value(ctx context.Context, p *agent.Pause, name string, s *schema, optional bool) (any, error) {
	if s.Description != "" {
		u.out.line("  %s", clean(s.Description))
	}
	if len(s.Properties) > 0 {
		return u.object(ctx, p, s)
	}
	if len(s.Enum) > 0 && !optional {
		var texts []string
		for _, e := range s.Enum {
			texts = append(texts, fmt.Sprint(e))
		}
		i, err := u.number(ctx, p, texts)
		if err != nil {
			return nil, err
		}
		return s.Enum[i], nil
	}
	hint := map[string]string{"boolean": " (y or n)", "integer": " (a number)", "number": " (a number)",
		"array": " (JSON)", "object": " (JSON)"}
	kind, _ := s.Type.(string)
	for {
		text, err := u.line(ctx, clean(name)+hint[kind]+": ", "", nil)
		reason, no := strings.CutPrefix(text, "/reject")
		switch {
		case err != nil:
			return nil, err
		case no:
			return nil, &rejected{strings.TrimSpace(reason)}
		case text == "" && optional:
			return nil, nil
		}
		if v, ok := parse(kind, text); ok && text != "" {
			return v, nil
		}
		u.out.line("Type an answer%s, or /reject and why.", hint[kind])
	}
}

// object asks for the properties of an object, those that are required first.
func (u *ui) object(ctx context.Context, p *agent.Pause, s *schema) (any, error) {
	names := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	object := make(map[string]any)
	for i, name := range names {
		part, optional, label := s.Properties[name], i >= len(s.Required), name
		if optional {
			label += " (optional)"
		}
		v, err := u.value(ctx, p, label, &part, optional)
		if err != nil {
			return nil, err
		}
		if v != nil {
			object[name] = v
		}
	}
	return object, nil
}

// parse reads a value of a type.
func parse(kind, text string) (v any, ok bool) {
	switch kind {
	case "boolean":
		i := slices.Index([]string{"y", "yes", "true", "n", "no", "false"}, strings.ToLower(text))
		return i < 3, i >= 0
	case "integer", "number", "array", "object":
		return json.RawMessage(text), json.Valid([]byte(text))
	}
	return text, true
}

// number shows numbered choices and waits for one.
func (u *ui) number(ctx context.Context, p *agent.Pause, texts []string) (int, error) {
	var all []choice
	for i, text := range texts {
		n := strconv.Itoa(i + 1)
		u.out.line("  %s  %s", n, clean(text))
		all = append(all, choice{key: n, word: text, label: n, help: clean(text)})
	}
	if isQuestion(p) {
		all = append(all, reject)
	}
	word, err := u.choose(ctx, p, all)
	if err == nil && isQuestion(p) && word == reject.word {
		var why string
		if why, err = u.line(ctx, "Why? (optional) ", "", nil); err == nil {
			err = &rejected{why}
		}
	}
	return slices.Index(texts, word), err
}
