package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

// Whatever the spec, the policies, the hook and the model's bytes are: what runs fits the schema
// and is what was admitted and judged, nothing runs that anybody denied, and nothing runs twice.
func TestOnlyWhatIsValidAndPermittedRuns(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":9,"default":1},"s":{"enum":["a","b"]}},"additionalProperties":false}`
	valid := func(input string) bool { // judged by hand, not by the code under test
		var m map[string]any
		dec := json.NewDecoder(strings.NewReader(input))
		if dec.Decode(&m) != nil || m == nil {
			return false
		}
		for k, v := range m {
			switch k {
			case "n":
				n, ok := v.(float64)
				if !ok || n < 0 || n > 9 || n != float64(int(n)) {
					return false
				}
			case "s":
				if v != "a" && v != "b" {
					return false
				}
			default:
				return false
			}
		}
		_, defaulted := m["n"]
		return defaulted && strings.Count(input, `"n"`) == 1 && strings.Count(input, `"s"`) <= 1
	}
	pieces := []string{`"n":3`, `"n":3.0`, `"n":1e1`, `"n":-1`, `"n":"3"`, `"N":3`, `"n":null`, `"s":"a"`, `"s":"c"`,
		`"S":"a"`, `"x":1`, `"n":9`, ` "s" : "b" `}
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	input := func() json.RawMessage {
		var parts []string
		for range rnd.IntN(3) {
			parts = append(parts, pieces[rnd.IntN(len(pieces))])
		}
		in := "{" + strings.Join(parts, ",") + "}"
		if rnd.IntN(10) == 0 {
			in = in[:rnd.IntN(len(in)+1)]
		}
		return json.RawMessage(in)
	}
	statuses := map[tools.Status]int{}
	for round := range 2000 {
		ran, ranWith, denied := 0, "", false
		spec := tools.Spec{Name: "t", Schema: json.RawMessage(schema), Risk: tools.Risk(rnd.IntN(3)),
			Approval: tools.Approval(rnd.IntN(3))}
		if rnd.IntN(4) == 0 {
			spec.Requires = []string{"u"}
		}
		if rnd.IntN(4) == 0 {
			spec.Modes = []string{"edit"}
		}
		ending, checkFails := rnd.IntN(4), rnd.IntN(8) == 0
		tool := tools.Raw{Spec: spec,
			Run: func(_ context.Context, in json.RawMessage) (tools.Result, error) {
				ran++
				ranWith = string(in)
				switch ending {
				case 0:
					panic("x")
				case 1:
					return tools.Result{}, errors.New("x")
				}
				return tools.Text("x"), nil
			},
			Check: func(context.Context, json.RawMessage) error {
				if checkFails {
					denied = true
					return errors.New("no")
				}
				return nil
			}}
		reg := registry(t, tool, tools.New(tools.Spec{Name: "u"}, nothing))
		var judged []string
		var policies []tools.Policy
		for range rnd.IntN(4) {
			effect, panics := tools.Effect([]int{0, 0, 0, 0, 1, 2, 3}[rnd.IntN(7)]), rnd.IntN(20) == 0
			policies = append(policies, func(_ context.Context, _ *tools.Definition, c *tools.Call) tools.Verdict {
				judged = append(judged, string(c.Input))
				c.Input = json.RawMessage(`{"n":-7}`)
				denied = denied || panics || effect >= tools.Deny
				if panics {
					panic("x")
				}
				return tools.Verdict{Effect: effect}
			})
		}
		needMet, mode := rnd.IntN(2), []string{"", "ask", "edit"}[rnd.IntN(3)]
		denied = len(spec.Requires) > 0 && needMet == 0 || len(spec.Modes) > 0 && mode == "ask"
		c := &tools.Call{Name: "t", Input: input(), Mode: mode, Succeeded: func(string) int { return needMet }}
		var change func() error
		switch rnd.IntN(4) {
		case 0:
			to := input()
			change = func() error { c.Input = to; return nil }
		case 1:
			change = func() error { // in place
				for i := range c.Input {
					if c.Input[i] == '3' {
						c.Input[i] = '-'
					}
				}
				return nil
			}
		}
		what := fmt.Sprintf("round %d: %s", round, c.Input)

		adm, err := reg.Admit(t.Context(), c, nil, change, policies)
		require.NoError(t, err, what)
		require.Zero(t, ran, what)
		if adm.Rejected != nil {
			require.False(t, adm.Rejected.Status.Ran(), what)
			statuses[adm.Rejected.Status]++
			continue
		}
		admitted := string(c.Input)
		require.True(t, valid(admitted), "%s: admitted %s", what, admitted)
		refused := reg.Recheck(t.Context(), c, policies)
		require.Zero(t, ran, what)
		for _, in := range judged {
			require.Equal(t, admitted, in, what)
		}
		require.Equal(t, denied, refused != nil, what)
		if refused != nil {
			statuses[refused.Status]++
			continue
		}
		out := tools.Execute(t.Context(), adm.Definition, c, nil)
		require.Equal(t, 1, ran, what)
		require.Equal(t, admitted, ranWith, what)
		require.True(t, out.Status.Ran(), what)
		statuses[out.Status]++
	}
	for _, s := range []tools.Status{tools.OK, tools.Failed, tools.Denied, tools.Invalid} {
		require.Greater(t, statuses[s], 50, "the test reaches %v too seldom", s)
	}
}

// TestACallKeepsToItsTimeLimitHoweverOftenProgressMovesIt: at random.
func TestACallKeepsToItsTimeLimitHoweverOftenProgressMovesIt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	short := func() time.Duration { return time.Duration(r.Int64N(int64(40 * time.Second))) }
	for range 40 {
		synctest.Test(t, func(t *testing.T) {
			for range 30 {
				<-time.After(short() * time.Duration(r.IntN(3)))
				spec := tools.Spec{Timeout: []time.Duration{1, time.Second, 20 * time.Second, time.Minute, time.Hour,
					1<<63 - 1}[r.IntN(6)], Progress: r.IntN(2) == 0}
				limit, returns, told := spec.Timeout, r.IntN(3) == 0, 0
				d := define(t, raw(spec, func(ctx context.Context) (tools.Result, error) {
					began := time.Now()
					for range r.IntN(5) {
						<-time.After(short())
						took := time.Since(began)
						if tools.Progress(ctx, tools.ProgressReport{}); spec.Progress && took < limit {
							limit = max(limit, min(took+tools.ProgressExtends, max(tools.ProgressLimit, spec.Timeout)))
						}
					}
					if took := time.Since(began); took == limit {
						<-time.After(1)
					}
					require.Equal(t, time.Since(began) > limit, ctx.Err() != nil)
					if !returns && limit < 1<<62 {
						<-ctx.Done()
					}
					return tools.Result{}, ctx.Err()
				}))
				began, rang := time.Now(), time.Duration(0)
				out := tools.Execute(t.Context(), d, approve(t, d, &tools.Call{OnTimeout: func(*tools.Call) {
					told++
					rang = time.Since(began)
				}}), nil)
				require.LessOrEqual(t, told, 1)
				if require.Equal(t, out.Status == tools.TimedOut, told == 1, "%+v", spec); told == 1 {
					require.Equal(t, limit, rang)
				}
			}
		})
	}
}
