package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/internal/schema"
)

// A Tool is something that [NewRegistry] takes: a [Func], a [Raw], or a *[Definition].
type Tool interface {
	// Define compiles the tool: it makes and checks its schema. It returns an error that names the
	// tool and the correction.
	Define() (*Definition, error)
}

// New returns a tool that runs fn. See [Func] for tools with more functions.
func New[In, Out any](spec Spec, fn func(ctx context.Context, in In) (Out, error)) Tool {
	return Func[In, Out]{Spec: spec, Run: fn}
}

// A Func is a tool made of typed functions. In is a struct, or a map with string keys. Out is a
// string, a [Result], or anything that encodes to JSON.
//
// The schema of the input comes from In: names and optional fields from the json tag, and the rest
// from these tags, each of which is checked against the field's type when the tool is defined:
//
//		Sort  string   `json:"sort" description:"the order of the list" enum:"new,old" default:"new"`
//		Page  int      `json:"page,omitempty" minimum:"1" maximum:"100"`
//		Slug  string   `json:"slug" pattern:"^[a-z0-9-]+$"`
//		Mails []string `json:"mails" format:"email"`
//
//	  - description tells the model what the field is for. `jsonschema:"…"` means the same.
//	  - enum lists the allowed values of a string, number or boolean, with commas between them.
//	  - minimum and maximum bound a number, themselves included.
//	  - pattern is a regular expression (RE2) that a part of the string must match, and format a
//	    name such as email, date, date-time, uri or uuid.
//	  - default is filled in where the field is absent, and makes the field optional. It is a text
//	    for a string, JSON for anything else.
//
// Of a list, enum, minimum, maximum, pattern and format are about its items. A type that contains
// itself is described under $defs. For what tags can't express, use a method JSONSchema()
// json.RawMessage of a field's type, or Spec.Schema, which is merged over the schema of In.
//
// Every function but Run may be nil.
type Func[In, Out any] struct {
	Spec Spec
	// Run executes the call. The model reads its error, so it should say what was wrong and what
	// would be right.
	Run func(ctx context.Context, in In) (Out, error)
	// Ask returns why this input needs approval, or "" if it doesn't.
	Ask func(ctx context.Context, in In) (string, error)
	// Title says in a few words what a call with this input does, for the person who decides about
	// it: "Delete page “home”". Lists and pages that show the pause have these words. It may look
	// up what the input names, for the user of [CallOf]: for a pause, ctx belongs to the call, and
	// elsewhere it may belong to none. Set it for tools of risk: without Title, or if it returns ""
	// or panics, the title is made from the name of the tool and one property of the input, which
	// the model chose: see [Definition.Title].
	Title func(ctx context.Context, in In) string
	// Scope names the kind of call that an input makes, for standing rules: "git status" for a
	// command, "docs/" for a path. A rule that a person gives for one call then answers only for
	// calls with the same scope. It must depend on the input alone. Calls whose scope is longer
	// than 512 bytes or no valid UTF-8 can't have a rule. Without Scope, a rule is for all calls of
	// the tool.
	Scope func(in In) string
	// Preview returns what the call would change, as a unified diff, for the person who is asked.
	// It changes nothing itself. It is called when the call asks for approval, and again right
	// before Run: if it returns something else then, the call doesn't run, and the person is asked
	// again about what it would change now. It isn't called for calls that nobody is asked about.
	// So its text has to depend on the input and on what the call would change alone, and it has to
	// name everything that matters, such as the version of what isn't shown. Its error is the
	// call's: the model reads it, and nobody is asked.
	Preview func(ctx context.Context, in In) (string, error)
	// Check returns an error if the call may not run now. It is called right before Run, even after
	// a person approved.
	Check func(ctx context.Context, in In) error
	// Verify returns an error if the effect of a run that reported success isn't there. It counts
	// towards the time limit.
	Verify func(ctx context.Context, in In, out Out) error
	// Undo reverts the effect of Run. The output is decoded from the text that the model was shown:
	// for a [Result] it has only the text, and an output that was cut is an error unless Out is a
	// string or a Result. With Spec.UndoFailed it is the zero value for a call without a result.
	// The context belongs to the call that is undone: see [IdempotencyKey].
	Undo func(ctx context.Context, in In, out Out) error
}

// Define compiles the tool.
func (f Func[In, Out]) Define() (*Definition, error) {
	if f.Run == nil {
		return nil, specError(f.Spec.Name, "Run is nil; give it a function")
	}
	d := &Definition{spec: f.Spec}
	input, err := schema.Of(reflect.TypeFor[In](), f.Spec.Schema)
	if err != nil {
		return nil, specError(f.Spec.Name, "the input type %s: %v", reflect.TypeFor[In](), err)
	}
	if err := encodable(reflect.TypeFor[Out]()); err != nil {
		return nil, specError(f.Spec.Name, "the output type %s: %v", reflect.TypeFor[Out](), err)
	}
	if err := d.complete(input); err != nil {
		return nil, err
	}
	d.run = func(ctx context.Context, input json.RawMessage) (Result, error) {
		v, err := decode[In](input)
		if err != nil {
			return Result{}, err
		}
		out, err := f.Run(ctx, v)
		if err != nil {
			res, _ := any(out).(Result)
			return Result{Outside: res.Outside}, err
		}
		res, err := encode(out)
		if err == nil && f.Verify != nil && !res.Failed {
			err = verify(f.Spec.Name, func() error { return f.Verify(ctx, v, out) })
		}
		return res, err
	}
	d.ask, d.preview = decoded(f.Ask), decoded(f.Preview)
	if f.Title != nil {
		d.title = decoded(func(ctx context.Context, in In) (string, error) { return f.Title(ctx, in), nil })
	}
	if f.Scope != nil {
		scope := decoded(func(_ context.Context, in In) (string, error) { return f.Scope(in), nil })
		d.scope = func(input json.RawMessage) (string, error) { return scope(context.Background(), input) }
	}
	if f.Check != nil {
		check := decoded(func(ctx context.Context, in In) (string, error) { return "", f.Check(ctx, in) })
		d.check = func(ctx context.Context, input json.RawMessage) error {
			_, err := check(ctx, input)
			return err
		}
	}
	if f.Undo != nil {
		d.undo = func(ctx context.Context, input, output json.RawMessage) error {
			v, err := decode[In](input)
			if err != nil {
				return err
			}
			var out Out
			if output != nil {
				if err := decodeOutput(output, &out); err != nil {
					return fmt.Errorf("tools: %s: the recorded output can't be read for undoing: %w", f.Spec.Name, err)
				}
			}
			return f.Undo(ctx, v, out)
		}
	}
	return d, d.checkUndo()
}

// An asked is a function of a tool that is asked about a call.
type asked = func(ctx context.Context, input json.RawMessage) (string, error)

// decoded returns fn as a function of a call's input; nil if fn is nil.
func decoded[In any](fn func(context.Context, In) (string, error)) asked {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, input json.RawMessage) (string, error) {
		in, err := decode[In](input)
		if err != nil {
			return "", err
		}
		return fn(ctx, in)
	}
}

// A Raw is a tool over JSON. Spec.Schema is the schema of its input; empty means an object without
// properties. Its functions mustn't change the bytes of the input, nor keep them.
type Raw struct {
	Spec  Spec
	Run   func(ctx context.Context, input json.RawMessage) (Result, error)
	Ask   func(ctx context.Context, input json.RawMessage) (string, error)
	Title func(ctx context.Context, input json.RawMessage) string
	Scope func(input json.RawMessage) string
	// Preview returns what the call would change: see [Func].
	Preview func(ctx context.Context, input json.RawMessage) (string, error)
	Check   func(ctx context.Context, input json.RawMessage) error
	// Verify returns an error if the effect of a run that reported success isn't there.
	Verify func(ctx context.Context, input json.RawMessage, r Result) error
	// Undo reverts the effect of Run. The output is the text that the model was shown; nil, with
	// Spec.UndoFailed, for a call without a result.
	Undo func(ctx context.Context, input, output json.RawMessage) error
}

// Define compiles the tool.
func (r Raw) Define() (*Definition, error) {
	if r.Run == nil {
		return nil, specError(r.Spec.Name, "Run is nil; give it a function")
	}
	raw := r.Spec.Schema
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	in, err := schema.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("tools: %s: the schema: %w", r.Spec.Name, err)
	}
	if problem := rootProblem(raw); problem != "" {
		return nil, specError(r.Spec.Name, "%s", problem)
	}
	d := &Definition{spec: r.Spec, ask: r.Ask, preview: r.Preview, check: r.Check, undo: r.Undo}
	if err := d.complete(in); err != nil {
		return nil, err
	}
	if r.Title != nil {
		d.title = func(ctx context.Context, input json.RawMessage) (string, error) { return r.Title(ctx, input), nil }
	}
	if r.Scope != nil {
		d.scope = func(input json.RawMessage) (string, error) { return r.Scope(input), nil }
	}
	d.run = func(ctx context.Context, input json.RawMessage) (Result, error) {
		res, err := r.Run(ctx, input)
		if err == nil && r.Verify != nil && !res.Failed {
			err = verify(r.Spec.Name, func() error { return r.Verify(ctx, input, res) })
		}
		return owned(res), err
	}
	return d, d.checkUndo()
}

// rootProblem returns why providers reject a schema that is valid JSON Schema; "": they accept it.
// Anthropic and OpenAI want the type at the root, and no choice between schemas there.
func rootProblem(raw json.RawMessage) string {
	var root map[string]json.RawMessage
	if json.Unmarshal(raw, &root) != nil || string(root["type"]) != `"object"` {
		return `the schema's root has no "type": "object"; providers require it, also beside $ref or properties`
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if _, ok := root[word]; ok {
			return "the schema's root has " + word +
				", which providers reject; put the choice into a property, or list the properties and check them in " +
				"Raw.Check"
		}
	}
	return ""
}

// verify checks whether a run had its effect. A check that fails is no confirmation.
func verify(tool string, ask func() error) error {
	if err := guarded(tool, ask); err != nil {
		return &unverifiedError{err}
	}
	return nil
}

// An unverifiedError is a run whose effect wasn't confirmed.
type unverifiedError struct{ err error }

func (e *unverifiedError) Error() string { return e.err.Error() }
func (e *unverifiedError) Unwrap() error { return e.err }

// encodable returns an error if encode can't write outputs of that type.
func encodable(t reflect.Type) error {
	if t == reflect.TypeFor[Result]() || t == reflect.TypeFor[*Result]() {
		return nil
	}
	return schema.Encodable(t)
}
