package consent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures a [Policy].
type Config struct {
	// Said returns the conversation of a session, and the messages that the run in progress hasn't
	// read yet: see [Listener.Said].
	Said func(ctx context.Context, session string) (said []provider.Message, unread []string, err error)
	// Judge says what the person wants of a call, where the rules aren't sure, as [Judge] does with
	// a model. It gets what was said, and the call, in one text. nil, or if it fails: the call
	// asks.
	Judge func(ctx context.Context, question string) (Kind, error)
	// Free says that a call needs no consent, because it has no effect that a person could mind;
	// nil: only tools that are read-only have none.
	Free func(d *tools.Definition, c *tools.Call) bool
	// Exact says that a message means what it says, because a button sent it: it asks for each call
	// that comes of it. nil: none does.
	Exact func(message string) bool
}

// Policy returns a policy that asks about calls that have an effect, where the newest message of
// the person doesn't ask for one: see the package comment. In a session without a message of a
// person, it asks about nothing, unless one that comes during the run forbids it.
func Policy(cfg Config) tools.Policy {
	judged := &judgements{judge: cfg.Judge}
	return func(ctx context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
		allow := tools.Verdict{Effect: tools.Allow}
		if d.Spec().ReadOnly || cfg.Free != nil && cfg.Free(d, c) {
			return allow
		}
		all, unread, err := cfg.Said(ctx, c.Session)
		if err != nil {
			why := "What was said before can't be read: " + err.Error()
			return tools.Verdict{Effect: tools.Ask, Reason: why}
		}
		kind, newest, earlier := Requests, "", []string(nil)
		if said := messages(all); len(said) > 0 {
			if newest = said[len(said)-1]; cfg.Exact == nil || !cfg.Exact(newest) {
				kind, earlier = read(said, answer(all))
				if earlier = append(earlier, refusals(all)...); len(earlier) > 0 && kind == Requests {
					kind = Unknown
				}
			}
		}
		call := d.Title(tools.WithCall(ctx, c), c.Input) + "\n" + c.Name + " " + cut(string(c.Input), 1_000)
		if kind == Unknown {
			kind = judged.of(ctx, c.Session, question(newest, earlier, answer(all), call))
		}
		// What comes during a run may forbid the call. It doesn't ask for it: the model hasn't read
		// it.
		for i := 0; i < len(unread) && kind == Requests; i++ {
			if newest != "" {
				earlier = append(earlier, newest)
			}
			newest = unread[i]
			switch now := kindOf(newest); now {
			case Forbids, TakesBack, Conditions:
				kind = now
			case Unknown:
				kind = judged.of(ctx, c.Session, question(newest, earlier, answer(all), call))
			}
		}
		if kind == Requests {
			return allow
		}
		// A standing rule answers only what isn't certain.
		return tools.Verdict{Effect: tools.Ask, Standing: kind == Unknown,
			Reason: fmt.Sprintf(reasons[kind], quote(newest))}
	}
}

// reasons are why a call asks. What is requested doesn't.
var reasons = map[Kind]string{
	Requests:   "",
	Forbids:    "You wrote %s, or forbade this before.",
	Questions:  "You asked: %s. This would change something.",
	TakesBack:  "You took something back: %s.",
	Conditions: "You set a condition: %s.",
	Unknown:    "It isn't certain that %s asks for this.",
}

// quote shortens what a person wrote.
func quote(text string) string {
	return "“" + cut(strings.Join(strings.Fields(text), " "), 120) + "”"
}

func cut(text string, n int) string {
	if utf8.RuneCountInString(text) > n {
		text = string([]rune(text)[:n-1]) + "…"
	}
	return text
}

// messages returns what a person wrote.
func messages(all []provider.Message) (said []string) {
	for i := range all {
		if text, ok := written(&all[i]); ok {
			said = append(said, text)
		}
	}
	return said
}

// written returns what a person wrote in a message: its first text. Others are what the page adds,
// such as the screen.
func written(m *provider.Message) (text string, ok bool) {
	i := slices.IndexFunc(m.Parts, func(p provider.Part) bool { return p.Kind == provider.PartText })
	if m.Role != provider.RoleUser || i < 0 {
		return "", false
	}
	return m.Parts[i].Text, true
}

// refusals returns the results of calls that a person rejected, with their reasons.
func refusals(all []provider.Message) (said []string) {
	for i := range all {
		for _, p := range all[i].Parts {
			if p.Result != nil && isRefusal(p.Result) {
				said = append(said, p.Result.Text())
			}
		}
	}
	return said
}

func isRefusal(result *provider.ToolResult) bool {
	return strings.HasPrefix(result.Text(), "A person rejected this call")
}

// answer returns the assistant's answer before the newest message of the person.
func answer(all []provider.Message) string {
	before := false
	for i := len(all) - 1; i >= 0; i-- {
		if before && all[i].Role == provider.RoleAssistant && all[i].Text() != "" {
			return all[i].Text()
		}
		before = before || all[i].Role == provider.RoleUser && len(messages(all[i:i+1])) > 0
	}
	return ""
}

// question is what Judge gets.
func question(newest string, earlier []string, answer, call string) string {
	var b strings.Builder
	for _, text := range earlier {
		fmt.Fprintf(&b, "Earlier, the person wrote:\n%s\n\n", cut(text, 2_000))
	}
	if answer != "" {
		fmt.Fprintf(&b, "The assistant's last answer:\n%s\n\n", cut(answer, 500))
	}
	return fmt.Sprintf("%sThe person's newest message:\n%s\n\nThe call:\n%s", b.String(), cut(newest, 10_000), call)
}

// read returns what the newest of these messages does, and the earlier ones that it has to be read
// with: what they forbid may still hold. A yes asks for what the assistant's last answer asks
// about.
func read(said []string, answer string) (kind Kind, earlier []string) {
	newest := said[len(said)-1]
	kind = kindOf(newest)
	if intent.Yes(newest) && len(strings.Fields(newest)) <= 5 {
		if kind = Unknown; strings.Contains(answer, "?") {
			kind = Requests
		}
	}
	unclear := 0
	for i := len(said) - 2; i >= 0; i-- {
		switch kindOf(said[i]) {
		case Forbids, Conditions:
			earlier = append(earlier, said[i])
		case Unknown:
			if unclear++; unclear <= maxUnclear {
				earlier = append(earlier, said[i])
			}
		}
	}
	slices.Reverse(earlier)
	return kind, earlier
}

// maxUnclear is how many earlier messages that aren't clear the newest one is read with: the last
// ones. It is read with all that forbid something.
const maxUnclear = 20
