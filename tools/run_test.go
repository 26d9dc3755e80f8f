package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

type refund struct {
	Order string `json:"order"`
	Cents int    `json:"cents" minimum:"1" default:"100"`
}

// shop returns a registry with a tool that asks, and what the tool was run with.
func shop(t testing.TB, spec tools.Spec) (*tools.Registry, *[]refund) {
	t.Helper()
	ran := new([]refund)
	spec.Name = "refund"
	return registry(t, tools.New(spec, func(_ context.Context, in refund) (string, error) {
		*ran = append(*ran, in)
		return "done", nil
	})), ran
}

// A host that runs one tool, without an agent: the call needs a person, who approves what runs.
func ExampleRegistry_Run() {
	reg, err := tools.NewRegistry(tools.New(tools.Spec{Name: "refund", Risk: tools.High},
		func(_ context.Context, in refund) (string, error) { return fmt.Sprint("paid back ", in.Cents), nil }))
	if err != nil {
		fmt.Println(err)
		return
	}
	call := tools.Call{Name: "refund", Input: json.RawMessage(`{"order": "a-7"}`)}
	out := reg.Run(context.Background(), call, tools.Options{})
	if q := out.Question; q != nil {
		fmt.Println(q.Tool, string(q.Input), "-", q.Reason)
		out = reg.Run(context.Background(), call, tools.Options{Approved: q.Hash})
	}
	fmt.Println(out.Status, out.Text())
	// Output:
	// refund {"order":"a-7","cents":100} - this tool is of high risk
	// ok paid back 100
}

// With a yes to one call, another one is asked about.
func TestAnApprovalIsForOneCall(t *testing.T) {
	call := tools.Call{Name: "refund", Input: json.RawMessage(`{"order":"a"}`), User: "ann", Session: "s", ID: "c-1"}
	reg, ran := shop(t, tools.Spec{Risk: tools.High, Description: "Pays back."})
	first := reg.Run(t.Context(), call, tools.Options{})
	require.Equal(t, tools.NotRun, first.Status)
	require.Equal(t, fault.None, first.Class)
	require.Equal(t, "The call wasn't run: a person has to approve it first: this tool is of high risk", first.Text())
	require.Equal(t, &tools.Question{Tool: "refund", Input: json.RawMessage(`{"order":"a","cents":100}`),
		Reason: "this tool is of high risk", Hash: first.Question.Hash}, first.Question)
	require.Equal(t, "05ef", first.Question.Hash[:4], "the same in each process")

	other, others := shop(t, tools.Spec{Risk: tools.High, Description: "Pays back at once."})
	for name, c := range map[string]struct {
		reg    *tools.Registry
		change func(*tools.Call)
	}{
		"input":       {reg, func(c *tools.Call) { c.Input = json.RawMessage(`{"order":"a","cents":101}`) }},
		"user":        {reg, func(c *tools.Call) { c.User = "bob" }},
		"session":     {reg, func(c *tools.Call) { c.Session = "s2" }},
		"labels":      {reg, func(c *tools.Call) { c.Labels = provider.LabelsOf(map[string]string{"tenant": "b"}) }},
		"id":          {reg, func(c *tools.Call) { c.ID = "c-2" }},
		"fields":      {reg, func(c *tools.Call) { c.User, c.Session = "anns", "" }},
		"description": {other, func(*tools.Call) {}},
	} {
		changed := call
		c.change(&changed)
		out := c.reg.Run(t.Context(), changed, tools.Options{Approved: first.Question.Hash})
		require.NotNil(t, out.Question, name)
		require.NotEqual(t, first.Question.Hash, out.Question.Hash, name)
	}
	require.Empty(t, append(*ran, *others...))

	call.Input = json.RawMessage(` { "order" : "a", "cents" : 100.0 } `) // means the same
	require.Equal(t, tools.OK, pick(reg.Run(t.Context(), call, tools.Options{Approved: first.Question.Hash})))
	require.Equal(t, []refund{{"a", 100}}, *ran)
	require.Equal(t, json.RawMessage(` { "order" : "a", "cents" : 100.0 } `), call.Input, "a call is passed by value")
}

func pick(out tools.Outcome) tools.Status { return out.Status }

func TestHowACallEndsThatIsRunByAHost(t *testing.T) {
	says := func(e tools.Effect) tools.Policy {
		return func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
			return tools.Verdict{Effect: e, Reason: "as the policy says"}
		}
	}
	later := func(e tools.Effect) tools.Policy { // decides otherwise when the call starts
		return func(_ context.Context, _ *tools.Definition, c *tools.Call) tools.Verdict {
			if c.Starting {
				return tools.Verdict{Effect: e, Reason: "not any more"}
			}
			return tools.Verdict{}
		}
	}
	under := func(p tools.Policy) tools.Options { return tools.Options{Policies: []tools.Policy{p}} }
	guessed := tools.Options{Approved: "yes"}
	edit, high := tools.Spec{Modes: []string{"edit"}}, tools.Spec{Risk: tools.High}
	open := circuit.NewSet(circuit.Tool())
	for open.Get("tool:refund").State() != circuit.Open {
		permit, err := open.Get("tool:refund").Allow()
		require.NoError(t, err)
		permit.Done(fault.New(fault.Transient, "down"))
	}
	for name, c := range map[string]struct {
		spec   tools.Spec
		call   tools.Call
		o      tools.Options
		want   tools.Status
		text   string
		asked  bool
		didRun bool
	}{
		"runs":             {want: tools.OK, text: "done", didRun: true},
		"unknown":          {call: tools.Call{Name: "refnd"}, want: tools.Unknown, text: `did you mean "refund"`},
		"no name":          {call: tools.Call{Name: "-"}, want: tools.Unknown, text: `there is no tool "-"`},
		"invalid":          {call: tools.Call{Input: []byte(`{"ordr":"a"}`)}, want: tools.Invalid, text: "missing key"},
		"twice":            {call: tools.Call{Input: []byte(`{"order":"a","Order":"b"}`)}, want: tools.Invalid},
		"cut":              {call: tools.Call{Input: []byte(`{"order":"a`)}, want: tools.Invalid},
		"denied":           {o: under(says(tools.Deny)), want: tools.Denied, text: "as the policy"},
		"nil policy":       {o: under(nil), want: tools.Denied},
		"asks":             {o: under(says(tools.Ask)), want: tools.NotRun, asked: true},
		"denied later":     {o: under(later(tools.Deny)), want: tools.Denied, text: "not any"},
		"asked later":      {o: under(later(tools.Ask)), want: tools.Denied},
		"wrong mode":       {spec: edit, call: tools.Call{Mode: "ask"}, want: tools.Denied, text: "only in edit"},
		"right mode":       {spec: edit, call: tools.Call{Mode: "edit"}, want: tools.OK, didRun: true},
		"a guessed hash":   {spec: high, o: guessed, want: tools.NotRun, asked: true},
		"breaker":          {o: tools.Options{Breakers: open}, want: tools.Unavailable, text: "temporarily"},
		"no such approver": {spec: tools.Spec{Approvers: []string{"lead"}}, want: tools.NotRun, asked: true},
	} {
		reg, ran := shop(t, c.spec)
		if c.call.Name == "" {
			c.call.Name = "refund"
		}
		if c.call.Input == nil {
			c.call.Input = json.RawMessage(`{"order":"a"}`)
		}
		out := reg.Run(t.Context(), c.call, c.o)
		require.Equal(t, c.want, out.Status, name)
		require.Contains(t, out.Text(), c.text, name)
		require.Equal(t, c.asked, out.Question != nil, name)
		require.Equal(t, c.didRun, len(*ran) == 1, name)
		require.Equal(t, c.didRun, out.Err == nil, name)
	}
	var none *tools.Registry
	require.Equal(t, tools.Unknown, pick(none.Run(t.Context(), tools.Call{Name: "x"}, tools.Options{})))
	reg, _ := shop(t, tools.Spec{})
	var noContext context.Context
	require.Equal(t, tools.OK,
		pick(reg.Run(noContext, tools.Call{Name: "refund", Input: []byte(`{"order":"a"}`)}, tools.Options{})))
	lazy := registry(t, tools.Lazy(returns(tools.Spec{}, "ran", nil), "load it"))
	require.Equal(t, tools.OK,
		pick(lazy.Run(t.Context(), tools.Call{Name: "t", Input: []byte(`{}`)}, tools.Options{})))
}

func TestOnlyWhoMayDecideApprovesACallOfAHost(t *testing.T) {
	reg, ran := shop(t, tools.Spec{Approvers: []string{"lead"}, NotSelf: true})
	leads := func(_ *tools.Spec, user string) bool { return user == "lea" || user == "leo" }
	call := tools.Call{Name: "refund", Input: json.RawMessage(`{"order":"a"}`), User: "leo"}
	hash := reg.Run(t.Context(), call, tools.Options{}).Question.Hash
	for _, by := range []string{"", "ann", "leo"} {
		call.By, call.MayApprove = by, leads
		out := reg.Run(t.Context(), call, tools.Options{Approved: hash})
		require.NotNil(t, out.Question, by)
		require.Contains(t, out.Question.Reason, "who approved it may not decide on it; this tool needs approval by")
	}
	call.By, call.MayApprove = "lea", nil
	require.NotNil(t, reg.Run(t.Context(), call, tools.Options{Approved: hash}).Question, "nobody may")
	call.MayApprove = func(*tools.Spec, string) bool { panic("no database") }
	require.NotNil(t, reg.Run(t.Context(), call, tools.Options{Approved: hash}).Question, "nobody knows")
	call.MayApprove, call.User = leads, ""
	out := reg.Run(t.Context(), call, tools.Options{})
	out = reg.Run(t.Context(), call, tools.Options{Approved: out.Question.Hash})
	require.Contains(t, out.Question.Reason, "it isn't known who makes the call")
	require.Empty(t, *ran)
	call.User = "leo"
	require.Equal(t, tools.OK, pick(reg.Run(t.Context(), call, tools.Options{Approved: hash})))
}

func TestAHostThatCantSayWhatHasSucceededDeniesTheCall(t *testing.T) {
	none := func(context.Context, struct{}) (string, error) { return "", nil }
	reg := registry(t, tools.New(tools.Spec{Name: "look"}, none),
		tools.New(tools.Spec{Name: "change", Requires: []string{"look"}}, none))
	out := reg.Run(t.Context(), tools.Call{Name: "change", Input: []byte(`{}`),
		Succeeded: func(string) int { panic("no database") }}, tools.Options{})
	require.Equal(t, tools.Denied, out.Status)
}

func TestAnApprovedCallIsCheckedAgain(t *testing.T) {
	paid := false
	reg := registry(t, tools.Func[refund, string]{Spec: tools.Spec{Name: "refund", Risk: tools.High},
		Run: func(context.Context, refund) (string, error) { paid = true; return "", nil },
		Check: func(context.Context, refund) error {
			if paid {
				return errors.New("it is paid back already")
			}
			return nil
		}})
	call := tools.Call{Name: "refund", Input: json.RawMessage(`{"order":"a"}`)}
	o := tools.Options{Approved: reg.Run(t.Context(), call, tools.Options{}).Question.Hash}
	require.Equal(t, tools.OK, pick(reg.Run(t.Context(), call, o)))
	out := reg.Run(t.Context(), call, o)
	require.Equal(t, tools.Denied, out.Status)
	require.Contains(t, out.Text(), "paid back already")
	o.Policies = []tools.Policy{func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Deny, Reason: "closed for today"}
	}}
	require.Contains(t, reg.Run(t.Context(), call, o).Err.Error(), "closed for today")
}

// What isn't admitted, or was changed since, doesn't run.
func TestOnlyAnAdmittedCallIsExecuted(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(reg *tools.Registry, c *tools.Call, d **tools.Definition)
		want  string
	}{
		"not admitted": {func(_ *tools.Registry, c *tools.Call, _ **tools.Definition) {
			*c = tools.Call{Name: "refund", Input: json.RawMessage(`{"order":"a","cents":5}`)}
		}, "it wasn't admitted; use Registry.Run"},
		"another input": {func(_ *tools.Registry, c *tools.Call, _ **tools.Definition) {
			c.Input = json.RawMessage(`{"order":"a","cents":5}`)
		}, "its input was changed after it was admitted"},
		"changed in place": {func(_ *tools.Registry, c *tools.Call, _ **tools.Definition) {
			c.Input[len(c.Input)-2] = '9'
		}, "its input was changed after it was admitted"},
		"another tool": {func(_ *tools.Registry, _ *tools.Call, d **tools.Definition) {
			other, err := tools.New(tools.Spec{Name: "pay"}, func(context.Context, refund) (string, error) {
				return "", errors.New("ran")
			}).Define()
			require.NoError(t, err)
			*d = other
		}, `it was admitted for another tool, "refund"`},
		"denied": {func(reg *tools.Registry, c *tools.Call, _ **tools.Definition) {
			adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{nil})
			require.NoError(t, err)
			require.Equal(t, tools.Denied, adm.Rejected.Status)
		}, "it wasn't admitted"},
		"gone": {func(_ *tools.Registry, c *tools.Call, _ **tools.Definition) {
			require.Equal(t, tools.Unknown, registry(t).Readmit(c).Status)
		}, "it wasn't admitted"},
		"rejected later": {func(reg *tools.Registry, c *tools.Call, _ **tools.Definition) {
			c.Input = json.RawMessage(`{"order":7}`)
			require.NotNil(t, reg.Readmit(c))
		}, "it wasn't admitted"},
		"a copy": {func(_ *tools.Registry, c *tools.Call, _ **tools.Definition) { same := *c; *c = same }, ""},
	} {
		reg, ran := shop(t, tools.Spec{})
		call := &tools.Call{Name: "refund", Input: json.RawMessage(`{"order":"a"}`)}
		adm, err := reg.Admit(t.Context(), call, nil, nil, nil)
		require.NoError(t, err)
		d := adm.Definition
		c.spoil(reg, call, &d)
		out := tools.Execute(t.Context(), d, call, nil)
		if c.want == "" {
			require.Equal(t, tools.OK, out.Status, name)
			continue
		}
		require.Equal(t, tools.NotRun, out.Status, name)
		require.Equal(t, fault.Invalid, out.Class, name)
		require.ErrorContains(t, out.Err, c.want, name)
		require.Empty(t, *ran, name)
	}
}

// Whatever is asked and answered in whichever order, a tool runs with what a question has shown,
// and once for each approval that the host gives.
func TestAToolRunsWithWhatAPersonHasSeen(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		reg, ran := shop(t, tools.Spec{Risk: tools.High})
		shown := map[string]string{} // hash to input
		var want []string
		for range 30 {
			input := fmt.Sprintf(`{"order":"o%d","cents":%d}`, rng.IntN(3), 1+rng.IntN(3))
			approved := ""
			for hash := range shown {
				if rng.IntN(2) == 0 {
					approved = hash
				}
			}
			out := reg.Run(t.Context(), tools.Call{Name: "refund", Input: json.RawMessage(input)},
				tools.Options{Approved: approved})
			if q := out.Question; q != nil {
				shown[q.Hash] = string(q.Input)
				continue
			}
			require.Equal(t, tools.OK, out.Status)
			want = append(want, shown[approved])
		}
		var got []string
		for _, in := range *ran {
			got = append(got, fmt.Sprintf(`{"order":%q,"cents":%d}`, in.Order, in.Cents))
		}
		require.Equal(t, want, got)
	}
}
