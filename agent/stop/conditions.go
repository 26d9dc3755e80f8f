package stop

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// A Condition reports whether a run should stop, and why. Conditions are called after each step,
// once all of its calls have results. A run for which one returns true has completed. They may be
// called by several runs at a time.
type Condition func(s *State) (reason string, stop bool)

// A State is the state of a run after a step.
type State struct {
	Steps     int
	Usage     provider.Usage
	Cost      provider.Money
	Phase     string
	Messages  []provider.Message // of the run; they mustn't be changed
	Succeeded map[string]int     // calls that succeeded, by tool
}

// Text returns the text of the model's last message.
func (s *State) Text() string {
	if s == nil {
		return ""
	}
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if s.Messages[i].Role == provider.RoleAssistant {
			return s.Messages[i].Text()
		}
	}
	return ""
}

// AfterSteps holds after n model calls.
func AfterSteps(n int) Condition {
	return func(s *State) (string, bool) {
		if s == nil || s.Steps < n {
			return "", false
		}
		return fmt.Sprintf("%d steps were made", s.Steps), true
	}
}

// AfterTool holds when one of the tools has succeeded.
func AfterTool(names ...string) Condition {
	return func(s *State) (string, bool) {
		i := slices.IndexFunc(names, func(n string) bool { return s != nil && s.Succeeded[n] > 0 })
		if i < 0 {
			return "", false
		}
		return names[i] + " succeeded", true
	}
}

// WhenText holds when the model's last message has text that matches. With nil it never does.
func WhenText(re *regexp.Regexp) Condition {
	return func(s *State) (string, bool) {
		if re == nil || !re.MatchString(s.Text()) {
			return "", false
		}
		return fmt.Sprintf("the text matches %q", re), true
	}
}

// AnyOf holds when one of the conditions does. A nil one never does.
func AnyOf(conditions ...Condition) Condition {
	return func(s *State) (string, bool) {
		for _, c := range conditions {
			if c == nil {
				continue
			}
			if why, ok := c(s); ok {
				return why, true
			}
		}
		return "", false
	}
}
