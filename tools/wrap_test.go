package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

type pageID struct {
	ID string `json:"id"`
}

// pages is a tool with all functions, and what they were called with.
func pages(log *[]string) tools.Tool {
	note := func(what, id string) { *log = append(*log, what+" "+id) }
	return tools.Func[pageID, string]{
		Spec: tools.Spec{Name: "page.delete", Description: "Deletes a page.", Risk: tools.Medium},
		Run: func(ctx context.Context, in pageID) (string, error) {
			note("run", in.ID)
			return "deleted " + in.ID, nil
		},
		Ask: func(ctx context.Context, in pageID) (string, error) { note("ask", in.ID); return "it is public", nil },
		Check: func(ctx context.Context, in pageID) error {
			note("check", in.ID)
			return nil
		},
		Verify: func(ctx context.Context, in pageID, out string) error {
			note("verify", in.ID)
			if in.ID == "stays" {
				return errors.New("it is still there")
			}
			return nil
		},
		Undo: func(ctx context.Context, in pageID, out string) error { note("undo", out); return nil },
	}
}

// take admits, rechecks and executes a call.
func take(t *testing.T, tool tools.Tool, input string) (tools.Admission, tools.Outcome) {
	t.Helper()
	reg, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	c := &tools.Call{Name: reg.Names()[0], Input: json.RawMessage(input)}
	adm, err := reg.Admit(t.Context(), c, nil, nil, nil)
	require.NoError(t, err)
	if adm.Rejected != nil {
		return adm, *adm.Rejected
	}
	require.Nil(t, reg.Recheck(t.Context(), c, nil))
	return adm, tools.Execute(t.Context(), adm.Definition, c, nil)
}

func textOf(parts []provider.Part) string { return (&provider.Message{Parts: parts}).Text() }

func TestAWrappedToolKeepsEverythingOfTheTool(t *testing.T) {
	var log []string
	inner := pages(&log)
	wrapped := tools.Wrap(inner,
		func(ctx context.Context, input json.RawMessage, next tools.Runner) (tools.Result, error) {
			log = append(log, "before")
			res, err := next(ctx, input)
			log = append(log, "after")
			return res, err
		})
	adm, out := take(t, wrapped, `{"id":"p1"}`)
	require.Equal(t, tools.Verdict{Effect: tools.Ask, Reason: "it is public"}, adm.Verdict)
	require.Equal(t, tools.OK, out.Status)
	require.Equal(t, "deleted p1", textOf(out.Parts))
	require.Equal(t, []string{"ask p1", "check p1", "before", "run p1", "verify p1", "after"}, log)

	want, err := inner.Define()
	require.NoError(t, err)
	require.Equal(t, want.Tool(), adm.Definition.Tool())
	require.Equal(t, want.Fingerprint(), adm.Definition.Fingerprint())
	require.Equal(t, want.Spec(), adm.Definition.Spec())
	require.True(t, adm.Definition.CanUndo())
	require.NoError(t, adm.Definition.Undo(t.Context(), json.RawMessage(`{"id":"p1"}`), json.RawMessage("deleted p1")))
	require.Equal(t, "undo deleted p1", log[len(log)-1])

	_, out = take(t, wrapped, `{"id":"stays"}`)
	require.Equal(t, tools.Unverified, out.Status)
}

func TestAWrapperMayAnswerWithoutTheTool(t *testing.T) {
	var log []string
	kept := tools.Text("kept")
	wrapped := tools.Wrap(pages(&log), func(context.Context, json.RawMessage, tools.Runner) (tools.Result, error) {
		return kept, nil
	})
	_, out := take(t, wrapped, `{"id":"p1"}`)
	out.Parts[0].Text = "changed"
	_, out = take(t, wrapped, `{"id":"p1"}`)
	require.Equal(t, "kept", textOf(out.Parts))
	require.NotContains(t, log, "run p1")
}

func TestAPanicInAWrapperIsAFailure(t *testing.T) {
	var log []string
	_, out := take(t, tools.Wrap(pages(&log),
		func(context.Context, json.RawMessage, tools.Runner) (tools.Result, error) { panic("no") }), `{"id":"p1"}`)
	require.Equal(t, tools.Failed, out.Status)
	require.NotContains(t, textOf(out.Parts), "no")
}

func TestMistakesInAWrapperAreErrorsOfTheRegistry(t *testing.T) {
	var log []string
	for name, c := range map[string]struct {
		tool tools.Tool
		want string
	}{
		"no function": {tools.Wrap(pages(&log), nil), "tools: page.delete: the function that Wrap was given is nil"},
		"no tool":     {tools.Lazy(nil, "x"), "tools: the tool that is wrapped is nil"},
		"no text": {tools.Lazy(pages(&log), ""),
			"tools: page.delete: Lazy needs a text that tells the model how to load the tool"},
		"a bad tool": {tools.Lazy(tools.Raw{Spec: tools.Spec{Name: "x"}}, "x"),
			"tools: x: Run is nil; give it a function"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tools.NewRegistry(c.tool)
			require.EqualError(t, err, c.want)
		})
	}
}

func TestALazyToolIsRefusedUntilItIsOffered(t *testing.T) {
	var log []string
	reg, err := tools.NewRegistry(tools.Lazy(pages(&log), "call skills.load with its name first"))
	require.NoError(t, err)
	d, _ := reg.Lookup("page.delete")
	require.True(t, d.Lazy())
	c := &tools.Call{Name: "page.delete", Input: json.RawMessage(`{"id":"p1"}`)}
	adm, err := reg.Admit(t.Context(), c, nil, nil, nil)
	require.NoError(t, err)
	require.Equal(t, tools.Denied, adm.Rejected.Status)
	require.Equal(t, `The call wasn't run: the tool "page.delete" isn't loaded; call skills.load with its name first`,
		textOf(adm.Rejected.Parts))

	adm, err = reg.Admit(t.Context(), c, []*tools.Definition{d}, nil, nil)
	require.NoError(t, err)
	require.Nil(t, adm.Rejected)
	require.Equal(t, []string{"ask p1"}, log)
}
