package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// A Definition is a compiled tool. It never changes and is safe for concurrent use.
type Definition struct {
	spec   Spec
	input  *schema.Schema
	output *schema.Schema // nil: not validated
	shown  provider.Tool  // as shown to a model

	fingerprint string // of what a model is shown

	external  bool   // see External
	howToLoad string // not empty: the tool is lazy, and this tells a model how to load it

	key     string                      // of its breaker; empty: none
	retries map[fault.Class]fault.Retry // nil: never

	run   func(ctx context.Context, input json.RawMessage) (Result, error)
	ask   func(ctx context.Context, input json.RawMessage) (string, error) // may be nil, like those that follow
	title func(ctx context.Context, input json.RawMessage) (string, error)
	scope func(input json.RawMessage) (string, error)

	preview func(ctx context.Context, input json.RawMessage) (string, error)

	check func(ctx context.Context, input json.RawMessage) error
	undo  func(ctx context.Context, input, output json.RawMessage) error
}

// Define returns d: a Definition is a [Tool].
func (d *Definition) Define() (*Definition, error) {
	if d == nil || d.run == nil {
		return nil, specError("", "the Definition is empty; take one from Define or a Registry")
	}
	return d, nil
}

// Spec returns the tool's spec with its defaults filled in. Its slices and maps mustn't be changed.
func (d *Definition) Spec() *Spec { return &d.spec }

// Name returns the tool's name.
func (d *Definition) Name() string { return d.spec.Name }

// Tool returns the definition that a model is shown. It is always the same for the same tool, byte
// for byte.
func (d *Definition) Tool() provider.Tool { return d.shown }

// SchemaHash returns a short fingerprint of the input schema.
func (d *Definition) SchemaHash() string { return d.input.Hash() }

// Fingerprint returns a short fingerprint of the input schema and the description. Standing
// approvals are bound to it: a tool whose description or schema has changed must be approved again.
func (d *Definition) Fingerprint() string { return d.fingerprint }

// Judges reports whether a function of the tool takes part in whether a call runs: its Ask or its
// Check.
func (d *Definition) Judges() bool { return d.ask != nil || d.check != nil }

// Lazy reports whether the tool must be loaded before it is offered: see [Lazy].
func (d *Definition) Lazy() bool { return d.howToLoad != "" }

// Accept validates input and returns it in canonical form, with defaults filled in. The error, of
// class Invalid, is written for a model.
func (d *Definition) Accept(input json.RawMessage) (json.RawMessage, error) {
	return d.input.Accept(input)
}

// maxScope is how long a scope may be, in bytes.
const maxScope = 512

// Scope returns the scope that the tool names for an input: see [Func].Scope. It returns "" for a
// tool without scopes, and false if no standing rule can answer for this input, because its scope
// isn't known or isn't a short text.
func (d *Definition) Scope(input json.RawMessage) (scope string, ok bool) {
	if d.scope == nil {
		return "", true
	}
	err := guarded(d.spec.Name, func() (err error) {
		scope, err = d.scope(input)
		return err
	})
	if err != nil || len(scope) > maxScope || !utf8.ValidString(scope) {
		return "", false
	}
	return scope, true
}

// CanUndo reports whether the tool has an Undo.
func (d *Definition) CanUndo() bool { return d.undo != nil }

// checkUndo returns an error if the Spec promises an Undo that the tool doesn't have.
func (d *Definition) checkUndo() error {
	if d.spec.UndoFailed && d.undo == nil {
		return specError(d.spec.Name, "it has UndoFailed and no Undo; give it one, or leave UndoFailed out")
	}
	return nil
}

// Undo reverts the effect of a finished call, in the context that [WithCall] returns for it. The
// input is the call's; the output is the text that the model was shown, perhaps with the marks of
// [Untrusted], or nil for a call without a result: see [Spec].UndoFailed.
func (d *Definition) Undo(ctx context.Context, input, output json.RawMessage) (err error) {
	if d.undo == nil {
		return specError(d.spec.Name, "the tool can't undo")
	}
	defer contain(d.spec.Name, &err)
	if text, marked := trusted(string(output)); marked {
		output = json.RawMessage(text)
	}
	return d.undo(ctx, input, output)
}

// A SpecError is a mistake in a tool's Spec.
type SpecError struct {
	Tool    string
	Problem string
}

// Error names the tool, the mistake and the correction.
func (e *SpecError) Error() string {
	if e.Tool == "" {
		return "tools: " + e.Problem
	}
	return "tools: " + e.Tool + ": " + e.Problem
}

func specError(tool, format string, args ...any) error {
	return &SpecError{Tool: tool, Problem: fmt.Sprintf(format, args...)}
}

// complete checks the spec and fills in what follows from it.
func (d *Definition) complete(input *schema.Schema) error {
	s := &d.spec
	if err := checkName(s.Name); err != nil {
		return err
	}
	if !utf8.ValidString(s.Description) {
		return specError(s.Name, "the Description is no valid UTF-8")
	}
	if !input.IsObject() {
		return specError(s.Name, "the input is no object; take a struct, or a schema of type object")
	}
	if s.Timeout < 0 {
		return specError(s.Name, "Timeout is %v; give 0 for %v, or more", s.Timeout, DefaultTimeout)
	}
	if s.ProgressLimit < 0 {
		return specError(s.Name, "ProgressLimit is %v; give 0 for %v, or more", s.ProgressLimit, ProgressLimit)
	}
	if s.MaxResult < 0 {
		return specError(s.Name, "MaxResult is %d; give 0 for %d bytes, or more", s.MaxResult, DefaultMaxResult)
	}
	if s.Expires < 0 {
		return specError(s.Name, "Expires is %v; give 0 for never, or more", s.Expires)
	}
	if s.Risk > High || s.Approval > AskNever {
		return specError(s.Name, "Risk %d or Approval %d isn't one of the constants", s.Risk, s.Approval)
	}
	switch {
	case slices.Contains(s.Approvers, ""):
		return specError(s.Name, "Approvers has an empty role; leave it out, or name a role")
	case s.NotSelf && len(s.Approvers) == 0:
		return specError(s.Name, "it has NotSelf and no Approvers; name the roles of those who decide")
	case s.Approval == AskNever && len(s.Approvers) > 0:
		return specError(s.Name, "it has Approvers and never asks them; leave AskNever out")
	}
	if s.Inline && s.Progress {
		return specError(s.Name,
			"it has Inline and Progress; a call that takes long enough to report progress can't be inline")
	}
	if s.NoBreaker && s.Resource != "" {
		return specError(s.Name, "it has NoBreaker and the Resource %q; give one of them", s.Resource)
	}
	if !s.NoBreaker {
		d.key = cmp.Or(s.Resource, "tool:"+s.Name)
	}
	s.Retries = maps.Clone(s.Retries)
	if err := d.completeRetries(); err != nil {
		return err
	}
	s.Timeout = cmp.Or(s.Timeout, DefaultTimeout)
	s.ProgressLimit = cmp.Or(s.ProgressLimit, ProgressLimit)
	s.MaxResult = cmp.Or(s.MaxResult, DefaultMaxResult)
	s.Tags, s.Modes, s.Requires = slices.Clone(s.Tags), slices.Clone(s.Modes), slices.Clone(s.Requires)
	s.Approvers = slices.Clone(s.Approvers)
	s.Schema, s.Output = slices.Clone(s.Schema), slices.Clone(s.Output)
	if len(s.Output) > 0 {
		out, err := schema.Parse(s.Output)
		if err != nil {
			return fmt.Errorf("tools: %s: the Output schema: %w", s.Name, err)
		}
		d.output = out
	}
	s.Options = maps.Clone(s.Options)
	for _, key := range slices.Sorted(maps.Keys(s.Options)) {
		var members map[string]json.RawMessage
		if json.Unmarshal(s.Options[key], &members) != nil || members == nil {
			return specError(s.Name, // without the value, which may have a token
				"Options[%q] isn't a JSON object; give one, such as {\"strict\": true}", key)
		}
		s.Options[key] = slices.Clone(s.Options[key])
	}
	d.input = input
	d.shown = provider.Tool{Name: s.Name, Description: s.Description, Schema: input.JSON(), Options: s.Options}
	sum := sha256.Sum256([]byte(input.Hash() + s.Description)) // all hashes have the same length
	d.fingerprint = hex.EncodeToString(sum[:16])
	return nil
}

// longestName is how long the name of a tool may be.
const longestName = 128

// checkName says what is wrong with a tool's name.
func checkName(name string) error {
	if name == "" {
		return specError("", "a tool has no name; set Spec.Name")
	}
	bad := strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-/", r))
	})
	if bad >= 0 || len(name) > longestName {
		return specError(name, "the name has to be 1 to 128 letters, digits, '.', '_', '-' or '/'")
	}
	return nil
}
