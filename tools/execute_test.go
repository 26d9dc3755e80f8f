package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// returns is a tool that returns out and err.
func returns[Out any](spec tools.Spec, out Out, err error) tools.Tool {
	spec.Name = "t"
	return tools.New(spec, func(context.Context, none) (Out, error) { return out, err })
}

func fails(err error) tools.Tool { return returns(tools.Spec{}, "", err) }

func TestOutputsBecomeText(t *testing.T) {
	type temperature struct {
		C    int    `json:"c"`
		Note string `json:"note,omitempty"`
	}
	type name string
	result := tools.Result{Parts: []provider.Part{provider.TextPart("a"),
		provider.MediaPart(provider.Media{Type: "image/png"})}, Data: map[string]int{"n": 1}}
	for title, c := range map[string]struct {
		tool       tools.Tool
		text, data string
		parts      int
	}{
		"string":       {returns(tools.Spec{}, "a <b> & c", nil), "a <b> & c", "", 1},
		"named string": {returns(tools.Spec{}, name("a"), nil), `"a"`, "", 1},
		"struct": {returns(tools.Spec{}, temperature{C: 3, Note: "<cold>"}, nil), `{"c":3,"note":"<cold>"}`, "",
			1},
		"pointer":     {returns(tools.Spec{}, &temperature{C: 3}, nil), `{"c":3}`, "", 1},
		"nil pointer": {returns[*temperature](tools.Spec{}, nil, nil), `null`, "", 1},
		"map":         {returns(tools.Spec{}, map[string]any{"b": 1, "a": nil}, nil), `{"a":null,"b":1}`, "", 1},
		"interface":   {returns[any](tools.Spec{}, "x", nil), `x`, "", 1},
		"Result":      {returns(tools.Spec{}, result, nil), "a", `{"n":1}`, 2},
		"*Result":     {returns(tools.Spec{}, &result, nil), "a", `{"n":1}`, 2},
		"nil *Result": {returns[*tools.Result](tools.Spec{}, nil, nil), "", "", 0},
		"no UTF-8":    {returns(tools.Spec{}, "a\xffb", nil), "a\uFFFDb", "", 1},
		"no UTF-8 data": {returns(tools.Spec{}, tools.Result{Data: json.RawMessage("\"\xff\"")}, nil), "", "\"\uFFFD\"",
			0},
	} {
		t.Run(title, func(t *testing.T) {
			out := execute(t, t.Context(), c.tool)
			require.Equal(t, tools.OK, out.Status)
			require.NoError(t, out.Err)
			require.Equal(t, fault.None, out.Class)
			require.Equal(t, c.text, text(out.Parts))
			require.Equal(t, c.data, string(out.Data))
			require.Len(t, out.Parts, c.parts)
		})
	}
}

type panickingMarshaler struct{}

func (panickingMarshaler) MarshalJSON() ([]byte, error) { panic("secret") }

type invalidMarshaler struct{}

func (invalidMarshaler) MarshalJSON() ([]byte, error) { return []byte(`{`), nil }

func TestAnOutputThatCannotBeEncodedFailsTheCall(t *testing.T) {
	for name, v := range map[string]any{
		"channel": make(chan int), "function": func() {}, "NaN": math.NaN(),
		"nested":              map[string]any{"x": []any{math.Inf(1)}},
		"panicking marshaler": panickingMarshaler{}, "invalid marshaler": invalidMarshaler{},
		"invalid raw": json.RawMessage(`{`),
	} {
		t.Run(name, func(t *testing.T) {
			verified := false
			for _, tool := range []tools.Tool{
				tools.Func[none, any]{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, none) (any, error) {
					return v, nil
				},
					Verify: func(context.Context, none, any) error { verified = true; return nil }},
				returns(tools.Spec{}, tools.Result{Parts: tools.Text("x").Parts, Data: v}, nil),
			} {
				out := execute(t, t.Context(), tool)
				require.Equal(t, tools.Failed, out.Status)
				require.Equal(t, fault.Permanent, out.Class, "the input isn't at fault")
				require.Equal(t, "The call ran, but its output can't be shown.", text(out.Parts))
				require.ErrorContains(t, out.Err, "tools: the output can't be encoded as JSON")
				require.Nil(t, out.Data)
			}
			require.False(t, verified)
		})
	}
}

func TestAnOutputThatBreaksItsSchemaFailsTheCall(t *testing.T) {
	spec := tools.Spec{Output: json.RawMessage(`{"type":"object","required":["c"]}`)}
	require.Equal(t, tools.OK, execute(t, t.Context(), returns(spec, map[string]int{"c": 1}, nil)).Status)

	for _, tool := range []tools.Tool{returns(spec, map[string]int{"d": 1}, nil), returns(spec, "no JSON", nil),
		returns[*tools.Result](spec, nil, nil)} {
		out := execute(t, t.Context(), tool)
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, fault.Permanent, out.Class, "the input isn't at fault")
		require.Contains(t, text(out.Parts), "The call ran, but its output isn't what the tool promises: ")
		require.ErrorContains(t, out.Err, "Spec.Output")
	}
	failed := returns(spec, tools.Result{Parts: tools.Text("sorry").Parts, Failed: true}, nil)
	require.Equal(t, "sorry", text(execute(t, t.Context(), failed).Parts), "a failure promises nothing")
}

func TestAResultMaySayThatItFailed(t *testing.T) {
	out := execute(t, t.Context(),
		returns(tools.Spec{}, tools.Result{Parts: tools.Text("exit status 1").Parts, Data: 1, Failed: true}, nil))
	require.Equal(t, tools.Failed, out.Status)
	require.Equal(t, fault.Permanent, out.Class)
	require.NoError(t, out.Err)
	require.Equal(t, "exit status 1", text(out.Parts))
	require.Equal(t, "1", string(out.Data))

	out = execute(t, t.Context(), returns(tools.Spec{}, tools.Result{Failed: true}, nil))
	require.Equal(t, "The tool failed without saying why.", text(out.Parts))
}

func TestAResultMayBeReturnedAgain(t *testing.T) {
	kept := tools.Result{Parts: tools.Text(strings.Repeat("x", 100)).Parts}
	spec := tools.Spec{MaxResult: 10}
	for _, tool := range []tools.Tool{returns(spec, kept, nil), returns(spec, &kept, nil),
		raw(spec, func(context.Context) (tools.Result, error) { return kept, nil })} {
		out := execute(t, t.Context(), tool)
		require.Len(t, text(out.Parts), 10)
		require.Equal(t, 90, out.Cut)
		require.Len(t, text(kept.Parts), 100)
	}
}

func TestACallInDoubtIsInDoubtAlsoWithoutAReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{&tools.DoubtError{Err: io.ErrUnexpectedEOF}, "unexpected EOF"},
		{&tools.DoubtError{}, "no reason is known"},
		{fmt.Errorf("saving: %w", &tools.DoubtError{}), "no reason is known"},
	} {
		out := execute(t, t.Context(), fails(c.err))
		require.Equal(t, tools.InDoubt, out.Status)
		require.Equal(t, "It isn't known whether the call had its effect: "+c.says+". Look before you make it again.",
			text(out.Parts))
	}
}

func TestAnErrorIsForTheModelToRead(t *testing.T) {
	for _, c := range []struct {
		err   error
		class fault.Class
	}{
		{errors.New("there is no page \"x\""), fault.Permanent},
		{fault.New(fault.Transient, "try again"), fault.Transient},
		{fault.New(fault.RateLimited, "slowly"), fault.RateLimited},
		{fault.New(fault.Degraded, "down"), fault.Degraded},
		{fault.NewFixable("no key", "set KEY", nil), fault.UserFixable},
		{fault.New(fault.Permanent, "no"), fault.Permanent},
		{fault.New(fault.Invalid, "not a date"), fault.Invalid},
		{fault.New(fault.NotFound, "no such file"), fault.NotFound},
		{fault.New(fault.Denied, "not yours"), fault.Denied},
		{fmt.Errorf("reading: %w", fault.New(fault.Degraded, "down")), fault.Degraded},
		{fmt.Errorf("reading: %w", fs.ErrNotExist), fault.NotFound},
		{io.ErrUnexpectedEOF, fault.Transient},
		{context.DeadlineExceeded, fault.Transient},                         // of a context of its own
		{fmt.Errorf("tools: query: %w", context.Canceled), fault.Permanent}, // the call's context hasn't ended
	} {
		out := execute(t, t.Context(), fails(c.err))
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, c.class, out.Class, c.err)
		require.Equal(t, c.err, out.Err)
		require.Equal(t, c.err.Error(), text(out.Parts))
	}
	require.Equal(t, "The tool failed without saying why.", text(execute(t, t.Context(), fails(errors.New(""))).Parts))
}

func TestALongErrorIsCutLikeAResult(t *testing.T) {
	out := execute(t, t.Context(), returns(tools.Spec{MaxResult: 200}, "", errors.New(strings.Repeat("é\xff", 10_000))))
	require.LessOrEqual(t, len(text(out.Parts)), 200)
	require.Positive(t, out.Cut)
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

type wildError struct{}

func (wildError) Error() string   { return "wild" }
func (wildError) Is(error) bool   { panic("Is") }
func (wildError) As(any) bool     { panic("As") }
func (wildError) Unwrap() []error { panic("Unwrap") }

func TestAPanicIsAnOutcomeWithoutAStack(t *testing.T) {
	var none []int
	for name, fn := range map[string]func() error{
		"text":            func() error { panic("secret") },
		"nil":             func() error { panic(nil) },
		"error":           func() error { panic(errors.New("secret")) },
		"nil error":       func() error { panic((*nilError)(nil)) },
		"runtime error":   func() error { return errors.New(string(rune(none[1]))) },
		"suspend":         func() error { panic(tools.Suspend{Kind: "question"}) },
		"nil in an error": func() error { return (*nilError)(nil) },
		"wild error":      func() error { return wildError{} },
	} {
		t.Run(name, func(t *testing.T) {
			out := execute(t, t.Context(),
				raw(tools.Spec{}, func(context.Context) (tools.Result, error) { return tools.Text("x"), fn() }))
			require.Equal(t, tools.Failed, out.Status)
			require.Equal(t, fault.Permanent, out.Class)
			require.Equal(t, "The tool failed: an internal error. Trying the same again won't help.", text(out.Parts))
			var panicked *tools.PanicError
			require.ErrorAs(t, out.Err, &panicked)
			require.Equal(t, "t", panicked.In)
			require.Contains(t, string(panicked.Stack), "goroutine")
			require.NotContains(t, out.Err.Error(), "goroutine")
			require.Nil(t, out.Suspend)
		})
	}
	out := execute(t, t.Context(),
		raw(tools.Spec{}, func(context.Context) (tools.Result, error) { _ = none[1]; return tools.Result{}, nil }))
	var panicked *tools.PanicError
	require.ErrorAs(t, out.Err, &panicked)
	require.Implements(t, new(runtime.Error), panicked.Value)
	require.NotErrorAs(t, out.Err, new(runtime.Error))
}

func TestAToolMayEndItsGoroutine(t *testing.T) {
	var kept context.Context
	d := define(t, raw(tools.Spec{}, func(ctx context.Context) (tools.Result, error) {
		kept = ctx
		runtime.Goexit()
		return tools.Result{}, nil
	}))
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		tools.Execute(context.Background(), d, approve(t, d, &tools.Call{Name: "t"}), nil)
		returned = true
	}()
	<-done
	require.False(t, returned)
	require.ErrorIs(t, kept.Err(), context.Canceled, "the context has ended all the same")
	require.Equal(t, tools.OK, execute(t, t.Context(), returns(tools.Spec{}, "x", nil)).Status)
}

func TestACallMayBeSuspended(t *testing.T) {
	want := tools.Suspend{Kind: "question", Prompt: "which?", Schema: json.RawMessage(`{"type":"string"}`), Expires: 5}
	for name, err := range map[string]error{
		"value": want, "pointer": &want, "wrapped": fmt.Errorf("asking: %w", want),
		"wrapped pointer": errors.Join(errors.New("x"), &want),
	} {
		t.Run(name, func(t *testing.T) {
			out := execute(t, t.Context(), fails(err))
			require.Equal(t, &want, out.Suspend)
			require.Empty(t, out.Status)
			require.Empty(t, out.Parts)
		})
	}
	out := execute(t, t.Context(), fails((*tools.Suspend)(nil)))
	require.Nil(t, out.Suspend)
	require.Equal(t, tools.Failed, out.Status)
	require.Equal(t, "tools: the call is suspended: question: which?", want.Error())
}

func TestVerifyConfirmsTheEffect(t *testing.T) {
	run := func(verify func() error) []tools.Tool {
		return []tools.Tool{
			tools.Func[none, string]{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, none) (string, error) {
				return "done", nil
			},
				Verify: func(_ context.Context, _ none, out string) error {
					require.Equal(t, "done", out)
					return verify()
				}},
			tools.Raw{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
				return tools.Text("done"), nil
			},
				Verify: func(_ context.Context, in json.RawMessage, r tools.Result) error {
					require.Equal(t, "{}done", string(in)+text(r.Parts))
					return verify()
				}},
		}
	}
	lost := fault.New(fault.NotFound, "the page is not there")
	for _, tool := range run(func() error { return nil }) {
		require.Equal(t, "done", text(execute(t, t.Context(), tool).Parts))
	}
	for _, tool := range run(func() error { return lost }) {
		out := execute(t, t.Context(), tool)
		require.Equal(t, tools.Unverified, out.Status)
		require.Equal(t, fault.NotFound, out.Class)
		require.ErrorIs(t, out.Err, lost)
		require.Equal(t,
			"The call ran and reported success, but its effect couldn't be confirmed: the page is not there",
			text(out.Parts))
	}
	for _, tool := range run(func() error { panic("secret") }) {
		out := execute(t, t.Context(), tool)
		require.Equal(t, tools.Unverified, out.Status)
		require.Equal(t, fault.Permanent, out.Class)
		require.Equal(t, "The call ran and reported success, but its effect couldn't be confirmed: an internal error",
			text(out.Parts))
	}
	for _, tool := range run(func() error { return tools.Suspend{Kind: "question"} }) {
		require.Equal(t, tools.Unverified, execute(t, t.Context(), tool).Status,
			"the tool ran: it can't be put off any more")
	}
}

func TestOnlyReportedSuccessIsVerified(t *testing.T) {
	failed := tools.Result{Parts: tools.Text("no").Parts, Failed: true}
	for _, tool := range []tools.Tool{
		tools.Func[none, tools.Result]{Spec: tools.Spec{Name: "t"},
			Run:    func(context.Context, none) (tools.Result, error) { return failed, nil },
			Verify: func(context.Context, none, tools.Result) error { return errors.New("asked") }},
		tools.Raw{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
			return failed, nil
		},
			Verify: func(context.Context, json.RawMessage, tools.Result) error { return errors.New("asked") }},
		tools.Func[none, string]{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, none) (string, error) {
			return "", errors.New("no")
		},
			Verify: func(context.Context, none, string) error { return errors.New("asked") }},
	} {
		out := execute(t, t.Context(), tool)
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, "no", text(out.Parts))
	}
}

func TestNothingIsRunWithoutATool(t *testing.T) {
	require.Equal(t, tools.Unknown, tools.Execute(t.Context(), nil, &tools.Call{}, nil).Status)
	require.Equal(t, tools.Unknown, tools.Execute(t.Context(), &tools.Definition{}, &tools.Call{}, nil).Status)
	require.Equal(t, tools.Unknown, tools.Execute(t.Context(), define(t, fails(nil)), nil, nil).Status)
	var noContext context.Context
	require.Equal(t, tools.OK, execute(t, noContext, fails(nil)).Status)
}

func TestACallTakesBackWhatItDid(t *testing.T) {
	type page struct{ ID string }
	undo := func(t *testing.T, tool tools.Tool, output string) error {
		t.Helper()
		d := define(t, tool)
		require.True(t, d.CanUndo())
		return d.Undo(t.Context(), json.RawMessage(`{"ID":"in"}`), json.RawMessage(output))
	}
	t.Run("typed", func(t *testing.T) {
		got := ""
		tool := tools.Func[page, page]{Spec: tools.Spec{Name: "t"},
			Run:  func(_ context.Context, in page) (page, error) { return in, nil },
			Undo: func(_ context.Context, in, out page) error { got = in.ID + out.ID; return nil }}
		require.NoError(t, undo(t, tool, `{"ID":"out"}`))
		require.Equal(t, "inout", got)
		require.ErrorContains(t, undo(t, tool, `{"ID":"ou… bytes left out`), "can't be read for undoing")
	})
	t.Run("text", func(t *testing.T) {
		got := ""
		require.NoError(t,
			undo(t, tools.Func[page, string]{Spec: tools.Spec{Name: "t"},
				Run:  func(context.Context, page) (string, error) { return "", nil },
				Undo: func(_ context.Context, in page, out string) error { got = out; return nil }}, `any text`))
		require.Equal(t, "any text", got)
	})
	t.Run("Result", func(t *testing.T) {
		got := ""
		require.NoError(t,
			undo(t, tools.Func[page, tools.Result]{Spec: tools.Spec{Name: "t"},
				Run: func(context.Context, page) (tools.Result, error) { return tools.Result{}, nil },
				Undo: func(_ context.Context, in page, out tools.Result) error {
					got = text(out.Parts)
					return nil
				}}, `any text`))
		require.Equal(t, "any text", got)
		require.NoError(t,
			undo(t, tools.Func[page, *tools.Result]{Spec: tools.Spec{Name: "t"},
				Run: func(context.Context, page) (*tools.Result, error) { return nil, nil },
				Undo: func(_ context.Context, in page, out *tools.Result) error {
					got = "p" + text(out.Parts)
					return nil
				}}, `any text`))
		require.Equal(t, "pany text", got)
	})
	t.Run("raw", func(t *testing.T) {
		got := ""
		require.NoError(t,
			undo(t, tools.Raw{Spec: tools.Spec{Name: "t"},
				Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil },
				Undo: func(_ context.Context, in, out json.RawMessage) error {
					got = string(in) + string(out)
					return nil
				}}, `x`))
		require.Equal(t, `{"ID":"in"}x`, got)
	})
	t.Run("panic", func(t *testing.T) {
		err := undo(t, tools.Func[page, string]{Spec: tools.Spec{Name: "t"},
			Run:  func(context.Context, page) (string, error) { return "", nil },
			Undo: func(context.Context, page, string) error { panic("boom") }}, `x`)
		var panicked *tools.PanicError
		require.ErrorAs(t, err, &panicked)
	})
	t.Run("none", func(t *testing.T) {
		d := define(t, fails(nil))
		require.False(t, d.CanUndo())
		require.ErrorContains(t, d.Undo(t.Context(), nil, nil), "can't undo")
	})
}
