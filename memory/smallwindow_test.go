package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestASmallWindowIsNotCompactedInEveryTurn has 50 turns in a window with room for 4,096 tokens, of
// which the last five groups take most.
func TestASmallWindowIsNotCompactedInEveryTurn(t *testing.T) {
	slide := []memory.Step{{Strategy: memory.Slide{}}}
	for _, c := range []struct {
		name   string
		system int // words
		words  int // of a turn
		steps  []memory.Step
		rules  []memory.Rule
		chat   bool // turns of a person and a reply; else steps with a call
	}{
		{"steps", 10, 400, slide, nil, false},
		{"steps that fill the window", 10, 500, slide, nil, false},
		{"steps, at a number of tokens", 10, 400, slide, []memory.Rule{{When: memory.AtTokens(2_800)}}, false},
		{"steps, without a rule", 10, 500, slide, []memory.Rule{}, false},
		{"steps, without a strategy", 10, 500, []memory.Step{}, nil, false},
		{"steps, by the default", 10, 500, nil, nil, false},
		{"steps beside a long system text", 2_000, 250, slide, nil, false},
		{"chat beside a long system text", 2_000, 400, slide, nil, true},
		{"chat of long replies", 2_000, 500, slide, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192}, Steps: c.steps, Rules: c.rules})
			require.NoError(t, err)
			req := &provider.Request{System: strings.Repeat("word ", c.system),
				Messages: []provider.Message{provider.User("the goal")}}
			compactions, text := 0, strings.Repeat("word ", c.words)
			var warnings []string
			for i := range 50 {
				newest := "the goal"
				if c.chat {
					newest = fmt.Sprint("question ", i)
					req.Messages = append(req.Messages, provider.Message{Role: provider.RoleAssistant,
						Parts: []provider.Part{provider.TextPart(text)}}, provider.User(newest))
				} else {
					req.Messages = append(req.Messages, step(fmt.Sprint(i), "look", fmt.Sprint(i), text)...)
				}
				out, err := m.Prepare(t.Context(), req, memory.Context{})
				require.NoError(t, err)
				sound(t, out.Messages)
				require.LessOrEqual(t, out.Count.Total, out.Budget)
				require.Equal(t, "the goal", out.Messages[0].Text())
				if !c.chat {
					require.Contains(t, results(out.Messages), fmt.Sprint(i), "the step under way")
				}
				require.Contains(t, asJSON(t, out.Messages), `"`+newest+`"`, "the newest message of the user")
				if out.Report != nil && out.Report.Changed() {
					compactions++
				}
				warnings = append(warnings, out.Warnings...)
				req.Messages = out.Messages
			}
			require.Positive(t, compactions)
			require.LessOrEqual(t, compactions, 25)
			require.Len(t, warnings, 1, "once")
			require.Contains(t, warnings[0], "Config.Keep")
		})
	}
}

// TestAWindowWithRoomForTheLastGroupsKeepsThem has five groups of less than the target together.
func TestAWindowWithRoomForTheLastGroupsKeepsThem(t *testing.T) {
	m, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192},
		Steps: []memory.Step{{Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{provider.User("the goal")}}
	compactions := 0
	for i := range 50 {
		req.Messages = append(req.Messages,
			step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 200))...)
		out, err := m.Prepare(t.Context(), req, memory.Context{})
		require.NoError(t, err)
		require.Empty(t, out.Warnings)
		for k := max(i-4, 0); k <= i; k++ {
			require.Contains(t, results(out.Messages), fmt.Sprint(k))
		}
		if out.Report != nil {
			compactions++
		}
		req.Messages = out.Messages
	}
	require.Positive(t, compactions)
}

func TestAWarningAboutFewerGroupsComesAgainWithAnotherWindow(t *testing.T) {
	m, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192}})
	require.NoError(t, err)
	messages := talk("go")
	for i := range 6 {
		messages = append(messages, step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 450))...)
	}
	prepare := func() []string {
		out, err := m.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{})
		require.NoError(t, err)
		return out.Warnings
	}
	require.Len(t, prepare(), 1)
	require.Empty(t, prepare())
	m.SetWindow(memory.Window{Size: 8_192}) // the same
	require.Empty(t, prepare())
	m.SetWindow(memory.Window{Size: 7_000})
	require.Len(t, prepare(), 1)
}

// TestAFinderIsAskedOncePerGroupAtMost has a Config.Keep far above the number of groups.
func TestAFinderIsAskedOncePerGroupAtMost(t *testing.T) {
	asked := 0
	m, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192}, Keep: 1 << 20,
		Subgoals: func([]memory.Group) []memory.Subgoal {
			asked++
			return nil
		}})
	require.NoError(t, err)
	messages := talk("go")
	for i := range 6 {
		messages = append(messages, step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 450))...)
	}
	out, err := m.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{})
	require.NoError(t, err)
	require.True(t, out.Report.Changed())
	require.Less(t, asked, 30)
}
