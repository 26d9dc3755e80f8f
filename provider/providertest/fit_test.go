package providertest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// shop returns a request that offers tools of a shop.
func shop() *provider.Request {
	order := `{"type":"object","properties":{"id":{"type":"integer","minimum":1},"note":{"type":"string"}},
		"required":["id"],"additionalProperties":false}`
	return &provider.Request{Messages: []provider.Message{provider.User("hi")}, Tools: []provider.Tool{
		{Name: "order", Schema: json.RawMessage(order)},
		{Name: "refund", Schema: json.RawMessage(order)},
		{Name: "list"},
		{Name: "broken", Schema: json.RawMessage(`{"type": "strin"}`)},
		{Name: "away", Schema: json.RawMessage(`{"$ref": "https://example.com/schema.json"}`)},
	}}
}

func TestAScriptedCallThatDoesNotFitTheRequestFailsAndSaysWhy(t *testing.T) {
	id := func(v any) map[string]any { return map[string]any{"id": v} }
	chunks := func(input string) Step {
		return Chunks(provider.Start("m"), provider.ToolStart(0, "x", "order"), provider.ToolDelta(0, input),
			provider.ToolEnd(0), provider.End(provider.StopToolCalls, provider.Usage{}))
	}
	for name, c := range map[string]struct {
		step Step
		why  []string // empty: it fits
	}{
		"it fits":                       {step: Call("order", id(1))},
		"a number as a float":           {step: Call("order", `{"id": 1.0}`)},
		"no arguments":                  {step: Call("list", nil)},
		"any arguments":                 {step: Call("list", id(1))},
		"a broken schema":               {step: Call("broken", id(1))},
		"a schema that leads elsewhere": {step: Call("away", id(1))},
		"raw chunks":                    {step: chunks(`{"id":1}`)},
		"cut before its input":          {step: Cut(2, Call("order", id(1)))},
		"the beginning of a call": {step: Cut(3,
			Chunks(provider.ToolStart(0, "x", "order"), provider.ToolDelta(0, `{"id`)))},
		"what the provider runs": {step: ProviderRan(provider.ToolCall{ID: "s", Name: "search"},
			provider.ToolResult{CallID: "s", Name: "search"})},
		"a name with a slip": {Call("oder", id(1)), []string{`step 2 of the script calls "oder"`,
			"its tools are order, refund, list, broken, away", `did you mean "order"?`, "write Unfit(step)"}},
		"another name": {Call("weather", id(1)), []string{`calls "weather", which the request doesn't offer`}},
		"a wrong type": {Call("order", id("seven")), []string{`calls "order" with an input that doesn't fit`,
			`id: expected integer, got "seven"`, `the input: {"id":"seven"}`}},
		"out of bounds": {Call("order", id(0)), []string{"id: must be at least 1"}},
		"a missing key": {Call("order", map[string]any{}), []string{`missing key "id"`}},
		"no input":      {Call("order", nil), []string{`missing key "id"`}},
		"another key": {Call("order", map[string]any{"id": 1, "notes": "x"}),
			[]string{`unknown key "notes"; did you mean "note"?`}},
		"cut arguments": {Call("order", `{"id":`), []string{`calls "order" with arguments that aren't JSON`}},
		"cut arguments of a tool without a schema": {Call("list", `{"id":`), []string{"aren't JSON"}},
		"the second of two": {Calls(CallSpec{Tool: "order", Input: id(1)},
			CallSpec{Tool: "orders", Input: id(1)}), []string{`calls "orders"`}},
		"interleaved": {Interleaved(CallSpec{Tool: "order", Input: id(1)},
			CallSpec{Tool: "refund", Input: id("long enough for several chunks")}), []string{`calls "refund"`}},
		"within a reply": {Reply(Say("Well."), Call("order", id(1)),
			Slow(1, Call("refund", id(0)))), []string{`calls "refund"`}},
		"it fails after it": {FailAfter(9, Call("nope", nil), fault.Degraded),
			[]string{`calls "nope"`}},
		"raw chunks that don't fit": {chunks(`{"id":0}`), []string{"must be at least 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := Script(Say("first"), c.step)
			_, err := provider.Generate(t.Context(), m, shop())
			require.NoError(t, err)
			res, err := provider.Generate(t.Context(), m, shop())
			if c.why == nil {
				require.False(t, err != nil && strings.Contains(err.Error(), "of the script"), "%v", err)
				m.AssertDone(t)
				return
			}
			require.Equal(t, fault.Permanent, fault.Of(err), "as a call beyond the script")
			require.Empty(t, res.Parts, "nothing is streamed")
			for _, why := range c.why {
				require.ErrorContains(t, err, why)
			}
			r := &recorder{}
			m.AssertDone(r)
			require.Contains(t, r.String(), c.why[0],
				"also where another provider has answered instead")

			meant := Unfit(c.step)
			require.NotEmpty(t, meant.Response().Calls())
			_, err = provider.Generate(t.Context(), Script(meant), shop())
			if err != nil {
				require.NotContains(t, err.Error(), "of the script")
			}
		})
	}
}

func TestARequestWithoutToolsFitsNoCall(t *testing.T) {
	m := Script(Call("order", nil), Say("x"))
	_, err := provider.Generate(t.Context(), m, &provider.Request{Messages: []provider.Message{provider.User("hi")}})
	require.ErrorContains(t, err, `calls "order", and the request offers no tools`)
	r := &recorder{}
	m.AssertDone(r)
	require.Contains(t, r.String(), "step 1 of the script")
	m.Rewind()
	for range 2 {
		_, err = provider.Generate(t.Context(), m, shop())
	}
	require.NoError(t, err)
}

func TestUnfitIsForItsOwnCallsAlone(t *testing.T) {
	bad := Call("nope", nil)
	for name, c := range map[string]struct {
		step Step
		fits bool
	}{
		"beside another":        {Reply(Unfit(bad), bad), false},
		"after another":         {Reply(bad, Say("x"), Unfit(bad)), false},
		"both":                  {Reply(Unfit(bad), Unfit(bad)), true},
		"the whole":             {Unfit(Reply(bad, bad)), true},
		"in a reply of replies": {Reply(Say("x"), Reply(Say("y"), Unfit(bad))), true},
		"changed afterwards":    {WithIDs(Slow(1, Unfit(bad)), "7"), true},
		"no call":               {Unfit(Say("x")), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := provider.Generate(t.Context(), Script(c.step), shop())
			require.Equal(t, c.fits, err == nil, "%v", err)
		})
	}
}
