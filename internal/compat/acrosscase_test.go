package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// acrossCase is a session of two processes. A seed makes the same case in each.
type acrossCase struct {
	name                string
	kind                *acrossKind
	text, scope, reply  string
	calls, helper       []toolCall // those of the models, one in each reply; without a tool, it is a text
	waits               json.RawMessage
	edit, answer, state json.RawMessage
	data                json.RawMessage
	before, after       []toolCall // what runs in each process
}

// acrossKind says what is left in a session, and how it goes on.
type acrossKind struct {
	what        string
	fill        func(c *acrossCase, a, b, edited toolCall)
	leave, goOn func(x *across, c *acrossCase)
	others      bool // the model isn't sent its own calls
	host        bool // the host makes the call
}

// waiting fills a case in which a call runs, and another one waits.
func waiting(c *acrossCase, a, b, _ toolCall) {
	c.calls, c.before, c.waits, c.after = []toolCall{a, b}, []toolCall{a}, b.input, []toolCall{b}
}

// editing is waiting for a call that a person edits.
func editing(c *acrossCase, a, b, edited toolCall) {
	waiting(c, a, b, edited)
	c.edit, c.after = edited.input, []toolCall{edited}
}

// questioning fills a case in which a tool asks.
func questioning(tool string, runs bool) func(c *acrossCase, a, b, _ toolCall) {
	return func(c *acrossCase, a, b, _ toolCall) {
		b.tool = tool
		if waiting(c, a, b, b); !runs {
			c.after = nil
		}
	}
}

func approves(x *across, c *acrossCase) { x.t.Helper(); x.resume(c, agent.Approve) }

func answers(x *across, c *acrossCase) {
	x.t.Helper()
	x.resume(c, func(id string) agent.Decision { return agent.Answer(id, c.answer) })
}

var acrossKinds = []acrossKind{
	{what: "approval", fill: waiting, leave: (*across).ask, goOn: approves},
	{what: "rejection", fill: func(c *acrossCase, a, b, _ toolCall) {
		waiting(c, a, b, b)
		c.after = nil
	}, leave: (*across).ask, goOn: func(x *across, c *acrossCase) {
		x.resume(c, func(id string) agent.Decision { return agent.Reject(id, c.text+"\xff") })
	}},
	{what: "edit", fill: editing, others: true, leave: (*across).ask, goOn: func(x *across, c *acrossCase) {
		x.resume(c, func(id string) agent.Decision { return agent.Edit(id, c.edit) })
	}},
	{what: "posted edit", fill: editing, others: true, leave: func(x *across, c *acrossCase) {
		x.ask(c)
		require.NoError(x.t, x.agent.Session(c.name).Decide(x.t.Context(), agent.Edit(x.open(c), c.edit)))
	}, goOn: func(x *across, c *acrossCase) { x.completes(agent.Continue(c.name)) }},
	{what: "question", fill: questioning("question", false), leave: (*across).ask, goOn: answers},
	{what: "question of a tool that runs again", fill: questioning("again", true), leave: (*across).ask, goOn: answers},
	{what: "standing approval", fill: func(c *acrossCase, a, b, last toolCall) {
		a.tool, b.tool = "always", "always"
		c.calls, c.waits = []toolCall{a, {}, b, last}, a.input
		c.before, c.after = []toolCall{a}, []toolCall{b, last}
	}, leave: func(x *across, c *acrossCase) {
		x.ask(c)
		x.resume(c, agent.AllowAlways)
	}, goOn: func(x *across, c *acrossCase) {
		x.ask(c)
		c.waits = c.calls[3].input
		approves(x, c)
	}},
	{what: "call of the host", others: true, host: true, fill: func(c *acrossCase, _, b, _ toolCall) {
		c.waits, c.after = b.input, []toolCall{b}
	}, leave: func(x *across, c *acrossCase) { x.pause(agent.CallTool(c.name, "drop", c.waits)) }, goOn: approves},
	{what: "subagent", fill: func(c *acrossCase, a, b, _ toolCall) {
		task, err := json.Marshal(agent.Task{Task: c.text})
		if err != nil {
			panic(err)
		}
		waiting(c, a, toolCall{"help", task}, b)
		c.helper, c.waits, c.after = []toolCall{b}, b.input, []toolCall{b}
	}, leave: (*across).ask, goOn: approves},
	{what: "plan", others: true, fill: func(c *acrossCase, a, b, _ toolCall) {
		c.calls, c.after = []toolCall{b, a}, []toolCall{b, a}
	}, leave: func(x *across, c *acrossCase) {
		pl := &plan.Plan{Title: "A plan: " + c.text + "\xff"}
		for i, call := range c.calls {
			n := plan.Node{ID: fmt.Sprintf("n%d", i), Tool: call.tool, Input: decoded(x.t, call.input)}
			if i > 0 {
				n.After = []string{"n0"}
			}
			pl.Nodes = append(pl.Nodes, n)
		}
		_, err := x.plans.Start(x.t.Context(), c.name, pl)
		require.NoError(x.t, err)
	}, goOn: func(x *across, c *acrossCase) {
		list, err := x.plans.Pending(x.t.Context(), c.name)
		require.NoError(x.t, err)
		require.Len(x.t, list, 1)
		require.NoError(x.t, x.plans.Decide(x.t.Context(), c.name, agent.Approve(list[0].ID).By("ann")))
		state, err := x.plans.Finish(x.t.Context(), c.name)
		require.NoError(x.t, err)
		require.Equal(x.t, plan.Completed, state.Status)
	}},
}

// randomCase returns the case with a number. Cases of all kinds take turns.
func randomCase(seed, n uint64) *acrossCase {
	r := odds{rand.New(rand.NewPCG(seed, n))}
	c := &acrossCase{name: fmt.Sprintf("session-%d", n), kind: &acrossKinds[n%uint64(len(acrossKinds))],
		text: "Go: " + r.text(), scope: "scope " + r.text() + " end", reply: "Done: " + r.text() + " end"}
	c.state, c.data = r.object("k"), r.object("k")
	c.answer = json.RawMessage(`{ "<answer>":` + r.str() + "}")
	c.kind.fill(c, toolCall{"save", r.object("k")}, toolCall{"drop", r.object("k")}, toolCall{"drop", r.object("k")})
	return c
}

// odds makes texts and JSON that encoders write in different ways.
type odds struct{ *rand.Rand }

var (
	oddTexts = []string{"<", ">", "&", "\u2028", "\u2029", "\u007f", "\u0085", "\ufffd", "\ufeff", "é", "😀", "word",
		" ",
		"'", "\u00a0", "\U0010ffff", "&amp;"}
	oddEscapes = []string{`\u2028`, `\u2029`, `\ud83d\ude00`, `\ud800`, `\udc00x`, `\u007f`, `\u007F`, `\/`, `\\`, `\"`,
		`\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u001f`, `\ufffd`, `\uFFFE`, `\u003c`, `\u0026`, `\u00e9`, `\\u2028`,
		`\\ufffd`}
	oddNumbers = []string{"0", "-0", "1.0", "0.10", "1E-7", "1e21", "1e+300", "9007199254740993", "-1.50e-10",
		"123456789012345678901234567890", "0.1000000000000000055511151231257827", "1e-300", "18446744073709551616"}
)

// text returns a text, as a person writes one.
func (r odds) text() (s string) {
	for range r.IntN(8) {
		s += oddTexts[r.IntN(len(oddTexts))]
	}
	return s
}

// str returns a string in JSON.
func (r odds) str() string {
	s := `"`
	for range r.IntN(8) {
		if s += r.text(); r.IntN(2) == 0 {
			s += oddEscapes[r.IntN(len(oddEscapes))]
		}
	}
	return s + `"`
}

func (r odds) blank() string { return []string{"", "", " ", "\n\t", "\r\n"}[r.IntN(5)] }

// object returns an object whose keys begin with a prefix and a number.
func (r odds) object(prefix string) json.RawMessage { return json.RawMessage(r.members(prefix, 4)) }

func (r odds) members(prefix string, depth int) string {
	var all []string
	for i := range r.IntN(6) {
		key := fmt.Sprintf(`"%s%d %s`, prefix, i, r.str()[1:])
		all = append(all, r.blank()+key+r.blank()+":"+r.blank()+r.value(depth)+r.blank())
	}
	return "{" + strings.Join(all, ",") + r.blank() + "}"
}

func (r odds) value(depth int) string {
	switch n := r.IntN(10); {
	case n < 4:
		return r.str()
	case n < 6:
		return oddNumbers[r.IntN(len(oddNumbers))]
	case n == 6:
		return []string{"null", "true", "false", `""`, "[]", "{}"}[r.IntN(6)]
	case n == 7 && depth == 4:
		return strings.Repeat("[", 60) + r.str() + strings.Repeat("]", 60)
	case depth == 0:
		return "null"
	case n == 8:
		return r.members("k", depth-1)
	}
	all := slices.Repeat([]string{"null"}, r.IntN(4))
	for i := range all {
		all[i] = r.blank() + r.value(depth-1) + r.blank()
	}
	return "[" + strings.Join(all, ",") + "]"
}

// decoded returns an object with all digits of its numbers.
func decoded(t *testing.T, raw json.RawMessage) (out map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&out), "%s", raw)
	return out
}
