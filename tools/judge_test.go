package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

func says(e tools.Effect, reason string) tools.Policy {
	return func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: e, Reason: reason}
	}
}

// judged admits a call of tool and returns what came of it: the effect, and the reason.
func judged(t *testing.T, tool tools.Tool, c tools.Call, policies ...tools.Policy) (tools.Effect, string) {
	t.Helper()
	reg := registry(t, tool, tools.New(tools.Spec{Name: "before"}, nothing))
	c.Name, c.Input = reg.All()[0].Name(), json.RawMessage(`{}`)
	a, err := reg.Admit(t.Context(), &c, nil, nil, policies)
	require.NoError(t, err)
	if a.Rejected != nil {
		require.Equal(t, tools.Denied, a.Rejected.Status)
		require.Equal(t, fault.Denied, a.Rejected.Class)
		return tools.Deny, text(a.Rejected.Parts)
	}
	require.NotEqual(t, tools.Deny, a.Verdict.Effect)
	return a.Verdict.Effect, a.Verdict.Reason
}

func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	effects := []tools.Effect{tools.Allow, tools.Ask, tools.Deny}
	approvals := map[tools.Approval]tools.Effect{tools.AskNever: tools.Allow, tools.AskAlways: tools.Ask}
	for approval, own := range approvals {
		for _, asks := range []tools.Effect{tools.Allow, tools.Ask} {
			tool := tools.Func[none, string]{Spec: tools.Spec{Name: "t", Approval: approval}, Run: nothing,
				Ask: func(context.Context, none) (string, error) {
					if asks == tools.Ask {
						return "the tool asks", nil
					}
					return "", nil
				}}
			for _, a := range effects {
				for _, b := range effects {
					for _, c := range effects {
						got, _ := judged(t, tool, tools.Call{}, says(a, "a"), says(b, "b"), says(c, "c"))
						require.Equal(t, max(own, asks, a, b, c), got, "approval %v, Ask %v, policies %v %v %v", own,
							asks, a, b, c)
					}
				}
			}
		}
	}
}

func TestTheFirstDenialGivesTheReasonAndQuestionsAllOfTheirs(t *testing.T) {
	never := tools.New(tools.Spec{Name: "t", Approval: tools.AskNever}, nothing)
	_, why := judged(t, never, tools.Call{}, says(tools.Allow, "a"), says(tools.Ask, "b"), says(tools.Ask, "c"))
	require.Equal(t, "b; c", why, "a person answers both questions")
	_, why = judged(t, never, tools.Call{}, says(tools.Ask, "a"), says(tools.Ask, "a"))
	require.Equal(t, "a", why)
	_, why = judged(t, never, tools.Call{}, says(tools.Ask, "a"), says(tools.Deny, "b"), says(tools.Deny, "c"))
	require.Equal(t, "The call wasn't run: b", why)
	_, why = judged(t, never, tools.Call{}, says(tools.Deny, "b"), says(200, "c"))
	require.Equal(t, "The call wasn't run: b", why)
	_, why = judged(t, tools.New(tools.Spec{Name: "t", Approval: tools.AskAlways}, nothing), tools.Call{},
		says(tools.Ask, "a"))
	require.Equal(t, "a", why, "no standing rule answers what a policy asks")
	standing := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask, Reason: "s", Standing: true}
	}
	_, why = judged(t, tools.New(tools.Spec{Name: "t", Approval: tools.AskAlways}, nothing), tools.Call{}, standing)
	require.Equal(t, "this tool always asks", why)
	_, why = judged(t, never, tools.Call{}, standing, says(tools.Ask, "b"), says(tools.Ask, "c"))
	require.Equal(t, "b; c", why)
	_, why = judged(t, never, tools.Call{}, says(tools.Ask, ""))
	require.Equal(t, "a policy asks", why)
	_, why = judged(t, never, tools.Call{}, says(tools.Deny, ""))
	require.Equal(t, "The call wasn't run: a policy denies this call", why)
}

func TestAPolicyPermitsWhatAStandingRuleMayAnswer(t *testing.T) {
	permits := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Allow, Standing: true}
	}
	standing := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask, Standing: true}
	}
	ask := func(why string, err error) func(context.Context, none) (string, error) {
		return func(context.Context, none) (string, error) { return why, err }
	}
	for name, c := range map[string]struct {
		tool     tools.Func[none, string]
		policies []tools.Policy
		want     tools.Effect
	}{
		"Approval":  {tools.Func[none, string]{Spec: tools.Spec{Approval: tools.AskAlways}}, nil, tools.Allow},
		"high risk": {tools.Func[none, string]{Spec: tools.Spec{Risk: tools.High}}, nil, tools.Ask},
		"high, AskAlways": {
			tools.Func[none, string]{Spec: tools.Spec{Risk: tools.High, Approval: tools.AskAlways}}, nil, tools.Ask},
		"high risk that may": {tools.Func[none, string]{Spec: tools.Spec{Risk: tools.High, AllowAlways: true}}, nil,
			tools.Allow},
		"Ask": {tools.Func[none, string]{Ask: ask("to 900 people", nil)}, nil, tools.Ask},
		"Ask that may": {tools.Func[none, string]{Spec: tools.Spec{AllowAlways: true},
			Ask: ask("to 900 people", nil)}, nil, tools.Allow},
		"Ask that fails": {tools.Func[none, string]{Spec: tools.Spec{AllowAlways: true}, Ask: ask("", errors.New("?"))},
			nil, tools.Ask},
		"a scope that is unknown": {tools.Func[none, string]{Spec: tools.Spec{Approval: tools.AskAlways},
			Scope: func(none) string { panic("?") }}, nil, tools.Ask},
		"another policy asks": {tools.Func[none, string]{}, []tools.Policy{says(tools.Ask, "a")}, tools.Ask},
		"another asks what a rule may answer": {tools.Func[none, string]{Spec: tools.Spec{Approval: tools.AskAlways}},
			[]tools.Policy{standing}, tools.Ask},
		"another allows": {tools.Func[none, string]{Spec: tools.Spec{Approval: tools.AskAlways}},
			[]tools.Policy{says(tools.Allow, "")}, tools.Allow},
		"another denies": {tools.Func[none, string]{}, []tools.Policy{says(tools.Deny, "no")}, tools.Deny},
		"another fails":  {tools.Func[none, string]{}, []tools.Policy{nil}, tools.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			c.tool.Spec.Name, c.tool.Run = "t", nothing
			got, _ := judged(t, c.tool, tools.Call{}, append([]tools.Policy{permits}, c.policies...)...)
			require.Equal(t, c.want, got)
			got, _ = judged(t, c.tool, tools.Call{}, append(c.policies, permits)...)
			require.Equal(t, c.want, got, "in the other order")
		})
	}
}

func TestAPolicyThatFailsDenies(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "t"}, nothing)
	for name, p := range map[string]tools.Policy{
		"panics":          func(context.Context, *tools.Definition, *tools.Call) tools.Verdict { panic("secret") },
		"panics with nil": func(context.Context, *tools.Definition, *tools.Call) tools.Verdict { panic(nil) },
		"is nil":          nil,
		"talks nonsense":  says(tools.Deny+1, "x"),
	} {
		t.Run(name, func(t *testing.T) {
			got, why := judged(t, tool, tools.Call{}, says(tools.Allow, ""), p, says(tools.Ask, "z"))
			require.Equal(t, tools.Deny, got)
			require.NotContains(t, why, "secret")
			require.NotContains(t, why, "goroutine")
		})
	}
}

func TestTheZeroApprovalAsksForHighRiskOnly(t *testing.T) {
	for _, c := range []struct {
		risk     tools.Risk
		approval tools.Approval
		want     tools.Effect
	}{
		{tools.Low, tools.AskIfHigh, tools.Allow}, {tools.Medium, tools.AskIfHigh, tools.Allow},
		{tools.High, tools.AskIfHigh, tools.Ask},
		{tools.Low, tools.AskAlways, tools.Ask}, {tools.High, tools.AskAlways, tools.Ask},
		{tools.Low, tools.AskNever, tools.Allow}, {tools.High, tools.AskNever, tools.Allow},
	} {
		got, _ := judged(t, tools.New(tools.Spec{Name: "t", Risk: c.risk, Approval: c.approval}, nothing), tools.Call{})
		require.Equal(t, c.want, got, "%v %v", c.risk, c.approval)
	}
}

func TestAskSpeaksOfThisVeryInput(t *testing.T) {
	ask := func(risk tools.Risk, reason string, err error) tools.Tool {
		return tools.Func[none, string]{Spec: tools.Spec{Name: "t", Risk: risk}, Run: nothing,
			Ask: func(context.Context, none) (string, error) { return reason, err }}
	}
	_, why := judged(t, ask(tools.High, "it goes to 900 people", nil), tools.Call{}, says(tools.Ask, "a"))
	require.Equal(t, "a; it goes to 900 people", why)
	_, why = judged(t, ask(tools.High, "", nil), tools.Call{})
	require.Equal(t, "this tool is of high risk", why)
	got, why := judged(t, ask(tools.Low, "", errors.New("no list")), tools.Call{})
	require.Equal(t, tools.Ask, got)
	require.Equal(t, "the tool couldn't decide whether to ask: no list", why)
	panics := tools.Raw{Spec: tools.Spec{Name: "t"}, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{}, nil
	},
		Ask: func(context.Context, json.RawMessage) (string, error) { panic("secret") }}
	got, why = judged(t, panics, tools.Call{})
	require.Equal(t, tools.Ask, got)
	require.Equal(t, "the tool couldn't decide whether to ask: an internal error", why)
}

func TestNobodyIsAskedAboutWhatIsDenied(t *testing.T) {
	asked := false
	tool := tools.Func[none, string]{Spec: tools.Spec{Name: "t"}, Run: nothing,
		Ask: func(context.Context, none) (string, error) { asked = true; return "", nil }}
	got, _ := judged(t, tool, tools.Call{}, says(tools.Deny, "no"))
	require.Equal(t, tools.Deny, got)
	require.False(t, asked)
}

func TestPrerequisitesDeny(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "t", Requires: []string{"before"}}, nothing)
	got, why := judged(t, tool, tools.Call{}, says(tools.Allow, ""))
	require.Equal(t, tools.Deny, got)
	require.Equal(t, `The call wasn't run: "before" has to succeed before "t" may be called`, why)
	got, _ = judged(t, tool, tools.Call{Succeeded: func(string) int { return 0 }})
	require.Equal(t, tools.Deny, got)
	got, _ = judged(t, tool, tools.Call{Succeeded: func(name string) int { return map[string]int{"before": 1}[name] }})
	require.Equal(t, tools.Allow, got)
}

func TestModesDeny(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "t", Modes: []string{"edit", "admin"}}, nothing)
	got, why := judged(t, tool, tools.Call{Mode: "ask"})
	require.Equal(t, tools.Deny, got)
	require.Equal(t, `The call wasn't run: "t" may not be called in mode "ask", only in edit, admin`, why)
	for _, mode := range []string{"", "edit", "admin"} {
		got, _ = judged(t, tool, tools.Call{Mode: mode})
		require.Equal(t, tools.Allow, got, mode)
	}
}

func TestRecheckJudgesAgainAndAsksTheTool(t *testing.T) {
	var now error
	boom := fault.Wrap(fault.Denied, errors.New("the page is locked"))
	var succeeded int
	asked := 0
	tool := tools.Func[none, string]{
		Spec:  tools.Spec{Name: "t", Approval: tools.AskAlways, Requires: []string{"before"}, Modes: []string{"edit"}},
		Run:   nothing,
		Ask:   func(context.Context, none) (string, error) { asked++; return "sure?", nil },
		Check: func(context.Context, none) error { return now },
	}
	reg := registry(t, tool, tools.New(tools.Spec{Name: "before"}, nothing))
	c := &tools.Call{Name: "t", Input: json.RawMessage(`{}`), Mode: "edit", Succeeded: func(string) int {
		return succeeded
	}}
	denied := func(want string, policies ...tools.Policy) {
		t.Helper()
		out := reg.Recheck(t.Context(), c, policies)
		require.NotNil(t, out)
		require.Equal(t, tools.Denied, out.Status)
		require.Contains(t, text(out.Parts), "The call wasn't run: ")
		require.Contains(t, text(out.Parts), want)
		require.Error(t, out.Err)
	}
	denied(`"before" has to succeed`)
	succeeded = 1
	require.Nil(t, reg.Recheck(t.Context(), c, nil))
	require.Nil(t, reg.Recheck(t.Context(), c, []tools.Policy{says(tools.Ask, "?")}), "an ask was answered before")
	denied("no", says(tools.Ask, "?"), says(tools.Deny, "no"))
	now = boom
	denied("the page is locked")
	require.ErrorIs(t, reg.Recheck(t.Context(), c, nil).Err, boom)
	require.Equal(t, fault.Denied, reg.Recheck(t.Context(), c, nil).Class)
	now = nil
	c.Mode = "ask"
	denied("only in edit")
	require.Zero(t, asked, "whether to ask was settled before")

	out := reg.Recheck(t.Context(), &tools.Call{Name: "gone"}, nil)
	require.Equal(t, tools.Unknown, out.Status)
}

func TestWhatNobodyWasAskedDoesntRunWhenItsPermissionIsWithdrawn(t *testing.T) {
	for _, own := range []tools.Approval{tools.AskNever, tools.AskAlways} {
		for _, later := range []tools.Verdict{{Effect: tools.Ask}, {Effect: tools.Ask, Standing: true}, {},
			{Effect: tools.Allow, Standing: true}} {
			for _, asked := range []bool{false, true} {
				reg := registry(t, tools.New(tools.Spec{Name: "t", Approval: own}, nothing))
				now := tools.Verdict{Effect: tools.Allow, Standing: true}
				if asked {
					now = tools.Verdict{Effect: tools.Ask}
				}
				policies := []tools.Policy{func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					return now
				}}
				c := &tools.Call{Name: "t", Input: json.RawMessage(`{}`)}
				a, err := reg.Admit(t.Context(), c, nil, nil, policies)
				require.NoError(t, err)
				require.Equal(t, asked, a.Verdict.Effect == tools.Ask)
				now = later
				out := reg.Recheck(t.Context(), c, policies)
				withdrawn := !asked && (later.Effect == tools.Ask || !later.Standing && own == tools.AskAlways)
				require.Equal(t, withdrawn, out != nil, "%v %v %v", own, later, asked)
				if withdrawn {
					require.Equal(t, tools.Denied, out.Status)
					require.Contains(t, text(out.Parts), "Make the call again")
				}
			}
		}
	}
}

func TestACheckThatPanicsDenies(t *testing.T) {
	var nilError *tools.PanicError
	for i, check := range []func(context.Context, none) error{
		func(context.Context, none) error { panic("secret") },
		func(context.Context, none) error { return nilError },
	} {
		tool := tools.Func[none, string]{Spec: tools.Spec{Name: "t"}, Run: nothing, Check: check}
		out := registry(t, tool).Recheck(t.Context(), &tools.Call{Name: "t", Input: json.RawMessage(`{}`)}, nil)
		require.Equal(t, tools.Denied, out.Status, fmt.Sprint(i))
		require.Equal(t, "The call wasn't run: an internal error", text(out.Parts))
		require.Equal(t, fault.Permanent, out.Class)
	}
}

func TestAStoredInputThatNoLongerFitsIsNotRun(t *testing.T) {
	tool := tools.Func[struct{ N int }, string]{Spec: tools.Spec{Name: "t"},
		Run:   func(context.Context, struct{ N int }) (string, error) { return "ran", nil },
		Check: func(context.Context, struct{ N int }) error { return nil }}
	reg := registry(t, tool)
	c := &tools.Call{Name: "t", Input: json.RawMessage(`{"N":"two"}`)}
	require.Equal(t, fault.Invalid, reg.Recheck(t.Context(), c, nil).Class)
	require.Equal(t, tools.Invalid, reg.Readmit(c).Status)
	out := tools.Execute(t.Context(), reg.All()[0], c, nil)
	require.Equal(t, tools.NotRun, out.Status)
	require.Equal(t, fault.Invalid, out.Class)
}

func TestAStandingRuleMayAnswerWhatAToolAsksOnlyWithAllowAlways(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		tool := tools.Func[struct{}, string]{
			Spec: tools.Spec{Name: "move", AllowAlways: allowed},
			Run:  func(context.Context, struct{}) (string, error) { return "", nil },
			Ask:  func(context.Context, struct{}) (string, error) { return "links break", nil },
		}
		r, err := tools.NewRegistry(tool)
		require.NoError(t, err)
		adm, err := r.Admit(t.Context(), &tools.Call{Name: "move", Input: []byte(`{}`)}, nil, nil, nil)
		require.NoError(t, err)
		require.Equal(t, tools.Verdict{Effect: tools.Ask, Reason: "links break", Standing: allowed}, adm.Verdict)
	}
}
