package process

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// An input is the input of a call.
type input struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Dir     string   `json:"dir"`
}

// schema returns the schema of an input.
func (t *tool) schema() (json.RawMessage, error) {
	type object = map[string]any
	var names []string
	for i := range t.cfg.Programs {
		names = append(names, t.cfg.Programs[i].Name)
	}
	props := object{
		"program": object{"type": "string", "enum": names},
		"args": object{"type": "array", "items": object{"type": "string"}, "maxItems": maxArgs,
			"description": "its arguments, one per element; they are passed unchanged, without a shell"},
		"dir": object{"type": "string",
			"description": "the working directory, relative to the working root; default: the root"},
	}
	return json.Marshal(object{"type": "object", "properties": props, "required": []string{"program"},
		"additionalProperties": false})
}

// describe returns the tool's description for a model.
func (t *tool) describe() string {
	var b strings.Builder
	b.WriteString("Runs a program, without a shell, and returns its exit code and output. The programs:")
	for i := range t.cfg.Programs {
		p := &t.cfg.Programs[i]
		b.WriteString("\n- " + p.Name)
		if p.Description != "" {
			b.WriteString(": " + p.Description)
		}
	}
	return b.String()
}

// read decodes a validated input.
func (t *tool) read(raw json.RawMessage) (*Program, *input, error) {
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, nil, refuse(fault.Invalid, "invalid input: %v", err)
	}
	p, ok := t.byName[in.Program]
	if !ok {
		return nil, nil, refuse(fault.NotFound, "there is no program %.60q; see the tool's description", in.Program)
	}
	return p, &in, nil
}

// ask returns the exact command, which a person approves, in the directory that is meant now; the
// call runs only if that has the name in the input. Whether it asks depends only on the input: a
// program that is rejected today may be allowed tomorrow, and mustn't run then without approval.
func (t *tool) ask(_ context.Context, raw json.RawMessage) (string, error) {
	p, in, err := t.read(raw)
	if err != nil || !t.asks {
		return "", err
	}
	if p.Risk != nil && p.Risk(slices.Clone(in.Args)) < tools.High {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("run " + quoted(p.Path))
	for _, a := range in.Args {
		b.WriteString(" " + quoted(a))
	}
	b.WriteString(" in " + quoted(resolved(t.cfg.Root, in.Dir)))
	return b.String(), nil
}

// title returns the command as a person types it.
func (t *tool) title(_ context.Context, raw json.RawMessage) string {
	_, in, err := t.read(raw)
	if err != nil {
		return ""
	}
	title := "Run " + in.Program
	for _, a := range in.Args {
		title += " " + quoted(a)
	}
	if in.Dir != "" {
		title += " in " + quoted(in.Dir)
	}
	return title
}

// scope returns what a standing approval of the call is for.
func (t *tool) scope(raw json.RawMessage) string {
	_, in, err := t.read(raw)
	if err != nil {
		return ""
	}
	scope, args := in.Program, in.Args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") { // else anything could follow, as after "sh -c"
		args = args[:1]
	}
	for _, a := range args {
		scope += " " + quoted(a)
	}
	return scope
}

// quoted quotes an argument so that a person sees where it begins and ends and what it contains.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,@%+", r))
	}) {
		return s
	}
	return strconv.Quote(s)
}

// check rejects a call that may not run, right before it runs.
func (t *tool) check(_ context.Context, raw json.RawMessage) error {
	_, err := t.command(raw)
	return err
}

// command makes a command of an input, or returns why it may not run.
func (t *tool) command(raw json.RawMessage) (*Command, error) {
	p, in, err := t.read(raw)
	if err != nil {
		return nil, err
	}
	if p.Check != nil {
		if err := p.Check(slices.Clone(in.Args)); err != nil {
			return nil, refuse(classOr(err, fault.Denied), "%s may not be run with these arguments: %s", p.Name,
				strings.TrimPrefix(err.Error(), "process: "))
		}
	}
	cmd := &Command{Path: p.Path, Args: in.Args, Env: t.base, Set: t.set[p.Name], Root: t.cfg.Root, Dir: in.Dir,
		Jail: t.cfg.Jail, plain: true,
		Timeout: p.Timeout, Grace: t.cfg.Grace, Keep: max(t.cfg.Spec.MaxResult-headerRoom, minKeep)}
	if err := cmd.check(); err != nil {
		return nil, err
	}
	dir, err := enter(cmd.Root, cmd.Dir, cmd.plain)
	if err != nil {
		return nil, err
	}
	dir.close()
	return cmd, nil
}

// classOr returns the class of an error if it is about the input, else other.
func classOr(err error, other fault.Class) fault.Class {
	switch c := fault.Of(err); c {
	case fault.Invalid, fault.NotFound, fault.Denied:
		return c
	}
	return other
}
