package providertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
)

// AssertDone fails the test unless the script was used exactly: every step, no call beyond them,
// and each call of a tool fitted its request.
func (m *Model) AssertDone(t testing.TB) {
	t.Helper()
	m.mu.Lock()
	next, requests, wrong := m.next, slices.Clone(m.requests), m.wrong
	m.mu.Unlock()
	switch steps := len(m.plays); {
	case wrong != nil:
		t.Errorf("providertest: %v; the newest request:\n%s", wrong, newest(requests))
	case next < steps:
		t.Errorf("providertest: the script has %s, and %d %s used; step %d is next: %s; the newest request:\n%s",
			count(steps, "step"), next, were(next), next+1, describeStep(&m.plays[next]), newest(requests))
	case next > steps:
		t.Errorf("providertest: the script has %s, and there %s %s; the newest request:\n%s", count(steps, "step"),
			were(next), count(next, "call"), newest(requests))
	}
}

// AssertCalls fails the test unless the model was called n times.
func (m *Model) AssertCalls(t testing.TB, n int) {
	t.Helper()
	if requests := m.Requests(); len(requests) != n {
		t.Errorf("providertest: there %s %s, not %d; the newest request:\n%s", were(len(requests)),
			count(len(requests), "call"), n, newest(requests))
	}
}

// AssertTools fails the test unless request i, counted from 0, offered exactly these tools in this
// order.
func (m *Model) AssertTools(t testing.TB, i int, names ...string) {
	t.Helper()
	if r := m.request(t, i); r != nil && !slices.Equal(toolNames(r), names) {
		t.Errorf("providertest: request %d offered the tools %s, not %s", i, list(toolNames(r)), list(names))
	}
}

// AssertSaw fails the test unless request i, counted from 0, carried all of this.
func (m *Model) AssertSaw(t testing.TB, i int, carried ...Matcher) {
	t.Helper()
	m.saw(t, i, carried, true)
}

// AssertDidNotSee fails the test if request i, counted from 0, carried any of this.
func (m *Model) AssertDidNotSee(t testing.TB, i int, carried ...Matcher) {
	t.Helper()
	m.saw(t, i, carried, false)
}

func (m *Model) saw(t testing.TB, i int, carried []Matcher, want bool) {
	t.Helper()
	r, instead := m.request(t, i), map[bool]string{true: "no", false: "a"}
	for _, c := range carried {
		if r != nil && c.match != nil && c.match(r) != want {
			t.Errorf("providertest: request %d carried %s %s:\n%s", i, instead[want], c.what, describe(r))
		}
	}
}

// request returns request i, or fails the test and returns nil if there was none. It isn't a copy.
func (m *Model) request(t testing.TB, i int) *provider.Request {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if i < 0 || i >= len(m.requests) {
		t.Errorf("providertest: there is no request %d; there %s %s", i, were(len(m.requests)),
			count(len(m.requests), "call"))
		return nil
	}
	return m.requests[i]
}

func newest(requests []*provider.Request) string {
	if len(requests) == 0 {
		return "  none"
	}
	return describe(requests[len(requests)-1])
}

// A Matcher recognises something that a request carries; see [Model.AssertSaw].
type Matcher struct {
	what  string
	match func(*provider.Request) bool
}

// ToolResult is a result of that tool.
func ToolResult(name string) Matcher {
	return Matcher{"result of " + name, func(r *provider.Request) bool { return hasResult(r, name, "") }}
}

// ToolResultText is a result of that tool whose text contains substring.
func ToolResultText(name, substring string) Matcher {
	return Matcher{"result of " + name + " with " + quote(substring), func(r *provider.Request) bool {
		return hasResult(r, name, substring)
	}}
}

// UserText is a user message whose text contains substring.
func UserText(substring string) Matcher {
	return Matcher{"user message with " + quote(substring), func(r *provider.Request) bool {
		return hasText(r, provider.RoleUser, substring)
	}}
}

// AssistantText is a message of the model whose text contains substring.
func AssistantText(substring string) Matcher {
	return Matcher{"assistant message with " + quote(substring), func(r *provider.Request) bool {
		return hasText(r, provider.RoleAssistant, substring)
	}}
}

// SystemText is system text that contains substring.
func SystemText(substring string) Matcher {
	return Matcher{"system text with " + quote(substring), func(r *provider.Request) bool {
		return strings.Contains(r.System, substring)
	}}
}

func hasText(r *provider.Request, role provider.Role, substring string) bool {
	return slices.ContainsFunc(r.Messages, func(m provider.Message) bool {
		return m.Role == role && strings.Contains(m.Text(), substring)
	})
}

func hasResult(r *provider.Request, name, substring string) bool {
	for i := range r.Messages {
		for _, p := range r.Messages[i].Parts {
			if p.Kind == provider.PartToolResult && p.Result != nil && p.Result.Name == name &&
				strings.Contains(p.Result.Text(), substring) {
				return true
			}
		}
	}
	return false
}

func quote(s string) string { return `"` + shorten(s, 80) + `"` }
