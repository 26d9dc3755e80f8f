package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

func TestASpecWhoseApproversCannotDecideIsRefused(t *testing.T) {
	for problem, spec := range map[string]tools.Spec{
		"empty role":         {Approvers: []string{"manager", ""}},
		"no Approvers":       {NotSelf: true},
		"leave AskNever out": {Approvers: []string{"manager"}, Approval: tools.AskNever},
	} {
		spec.Name = "refund"
		_, err := tools.New(spec, func(context.Context, order) (string, error) { return "", nil }).Define()
		require.ErrorContains(t, err, problem)
	}
}

// TestWhatIsPermittedAnswersForApproversOnlyIfOneOfThemGaveIt, when the call is admitted and right
// before it runs.
func TestWhatIsPermittedAnswersForApproversOnlyIfOneOfThemGaveIt(t *testing.T) {
	managers := map[string]bool{"bob": true}
	asked := 0
	may := func(spec *tools.Spec, user string) bool {
		require.Equal(t, "refund", spec.Name)
		require.NotEmpty(t, user)
		asked++
		return managers[user]
	}
	for _, risk := range []tools.Risk{tools.Low, tools.High} {
		spec := tools.Spec{Name: "refund", Approvers: []string{"manager", "owner"}, Risk: risk, AllowAlways: true}
		reg := registry(t, tools.New(spec, func(context.Context, order) (string, error) { return "", nil }))
		for _, c := range []struct {
			by      [][]string // of the policies that permit it
			may     func(*tools.Spec, string) bool
			answers bool
		}{
			{nil, may, false}, {[][]string{{}}, may, false}, {[][]string{{""}}, may, false},
			{[][]string{{"ann"}}, may, false}, {[][]string{{"bob"}}, may, true},
			{[][]string{{}, {"ann", "bob"}}, may, true}, {[][]string{{"bob"}}, nil, false},
		} {
			var policies []tools.Policy
			withdrawn := false
			for _, by := range c.by {
				policies = append(policies, func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					return tools.Verdict{Standing: !withdrawn, By: by}
				})
			}
			call := &tools.Call{Name: "refund", Input: json.RawMessage(`{"item":"x"}`), MayApprove: c.may}
			adm, err := reg.Admit(t.Context(), call, nil, nil, policies)
			require.NoError(t, err)
			require.Equal(t, c.answers, adm.Verdict.Effect == tools.Allow, c.by)
			if !c.answers {
				require.Equal(t, "this tool needs approval by somebody with the role manager or owner", adm.Verdict.Reason)
				require.True(t, adm.Verdict.Standing, "an approver's rule may answer")
				continue
			}
			require.Nil(t, reg.Recheck(t.Context(), call, policies))
			managers["bob"] = false
			require.Equal(t, tools.Denied, reg.Recheck(t.Context(), call, policies).Status, "bob has lost the role")
			managers["bob"], withdrawn = true, true
			require.Equal(t, tools.Denied, reg.Recheck(t.Context(), call, policies).Status)
		}
	}
	require.Positive(t, asked)
}
