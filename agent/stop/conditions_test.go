package stop

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestConditions(t *testing.T) {
	yes := func(why string) Condition { return func(*State) (string, bool) { return why, true } }
	no := func(*State) (string, bool) { return "not this", false }
	s := &State{
		Steps: 3, Usage: provider.Usage{Input: 60, Output: 40}, Succeeded: map[string]int{"write": 1, "look": 0},
		Messages: []provider.Message{provider.User("DONE"), provider.Assistant("All DONE.")},
	}
	for name, c := range map[string]struct {
		condition Condition
		why       string
		stop      bool
	}{
		"fewer steps":          {AfterSteps(4), "", false},
		"as many steps":        {AfterSteps(3), "3 steps were made", true},
		"more steps":           {AfterSteps(2), "3 steps were made", true},
		"the tool succeeded":   {AfterTool("look", "write"), "write succeeded", true},
		"the tool didn't":      {AfterTool("look", "other"), "", false},
		"no tool":              {AfterTool(), "", false},
		"the text matches":     {WhenText(regexp.MustCompile(`DONE\.$`)), "the text matches \"DONE\\\\.$\"", true},
		"a person's doesn't":   {WhenText(regexp.MustCompile(`^DONE`)), "", false},
		"no expression":        {WhenText(nil), "", false},
		"any of none":          {AnyOf(), "", false},
		"any, the first holds": {AnyOf(yes("a"), yes("b")), "a", true},
		"any, the last holds":  {AnyOf(no, nil, yes("b")), "b", true},
		"any, none holds":      {AnyOf(no, no), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			why, stop := c.condition(s)
			require.Equal(t, c.stop, stop)
			require.Equal(t, c.why, why, "a reason is given only by a condition that holds")
		})
	}
}

func TestConditionsHoldNothingOfARunThatHasDoneNothing(t *testing.T) {
	s := new(State)
	for i, c := range []Condition{AfterSteps(1), AfterTool("look"), WhenText(regexp.MustCompile("x")),
		AnyOf()} {
		_, stop := c(s)
		require.False(t, stop, fmt.Sprint(i))
	}
}

func TestTheTextOfARunIsThatOfTheLastMessageOfTheModel(t *testing.T) {
	require.Empty(t, (&State{}).Text())
	require.Equal(t, "done",
		(&State{Messages: []provider.Message{provider.User("go"), provider.Assistant("done"),
			provider.User("go")}}).Text())
}
