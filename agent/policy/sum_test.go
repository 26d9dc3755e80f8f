package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/tools"
)

func newSum(t *testing.T, cfg policy.SumConfig) *policy.Sum {
	t.Helper()
	cfg.Tool, cfg.Field = "refund", "cents"
	s, err := policy.NewSum(cfg)
	require.NoError(t, err)
	return s
}

// summing returns a desk whose refunds are added up.
func summing(sums ...*policy.Sum) *desk {
	d := &desk{}
	for _, s := range sums {
		d.more.Policies = append(d.more.Policies, s.Policy())
		d.more.Hooks = append(d.more.Hooks, s.Hooks())
	}
	return d
}

// judged returns what the policy says about a call of refund.
func judged(t *testing.T, s *policy.Sum, c tools.Call, input string) tools.Admission {
	t.Helper()
	spec := tools.Spec{Name: "refund", Schema: json.RawMessage(`{"type":"object"}`)}
	reg, err := tools.NewRegistry(tools.Raw{Spec: spec,
		Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text("ok"), nil }})
	require.NoError(t, err)
	c.Name, c.Input = "refund", json.RawMessage(input)
	adm, err := reg.Admit(t.Context(), &c, nil, nil, []tools.Policy{s.Policy()})
	require.NoError(t, err)
	return adm
}

// refundTool returns the definition of refund.
func refundTool(t *testing.T) *tools.Definition {
	t.Helper()
	d, err := tools.Raw{Spec: tools.Spec{Name: "refund", Schema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text("ok"), nil }}.Define()
	require.NoError(t, err)
	return d
}

// starting returns a call of refund that is about to start.
func starting(c tools.Call, input string) *tools.Call {
	c.Name, c.Input, c.Starting = "refund", json.RawMessage(input), true
	return &c
}

// started starts a call of refund.
func started(t *testing.T, s *policy.Sum, c tools.Call, input string) {
	t.Helper()
	s.Policy()(t.Context(), refundTool(t), starting(c, input))
}

func TestTheSecondOfFiveRefundsAsks(t *testing.T) {
	five := []string{`refund:{"cents":4991}`, `refund:{"cents":4992}`, `refund:{"cents":4993}`, `refund:{"cents":4994}`,
		`refund:{"cents":4995}`}
	for name, in := range map[string]agent.Input{
		"one after the other": do("s", five...),
		"in one reply":        do("s", strings.Join(five, " ")),
	} {
		t.Run(name, func(t *testing.T) {
			d := summing(newSum(t, policy.SumConfig{Limit: 50_00, Window: 24 * time.Hour}))
			a := d.agent(t)
			pauses := ask(t, a, in)
			require.Equal(t, []string{`{"cents":4991}`}, d.ran)
			require.NotEmpty(t, pauses)
			require.False(t, pauses[0].Always)
			require.Equal(t, "with this call of 4992, refund would come to more than 5000 in 24h0m0s in this session; so far "+
				"it is 4991 (cents in the smallest unit)", pauses[0].Reason)
			ask(t, a, agent.Resume("s", agent.Approve(pauses[0].ID)))
			require.Len(t, d.ran, 2, "an approval is for its call alone")
		})
	}
}

func TestWhatAPersonApprovesCounts(t *testing.T) {
	d := summing(newSum(t, policy.SumConfig{Limit: 50_00}))
	a := d.agent(t)
	pauses := ask(t, a, do("s", `refund:{"cents":6000}`))
	require.Empty(t, ask(t, a, agent.Resume("s", agent.Approve(pauses[0].ID))))
	require.Contains(t, ask(t, a, do("s", `refund:{"cents":1}`))[0].Reason, "so far it is 6000")
}

func TestAnAmountThatCantBeAddedUpIsDenied(t *testing.T) {
	s := newSum(t, policy.SumConfig{Limit: 50_00, Unit: "currency"})
	for input, want := range map[string]string{
		`{"currency":"EUR"}`:                             "is missing",
		`{"cents":null,"currency":"EUR"}`:                "is no such number",
		`{"cents":-1,"currency":"EUR"}`:                  "is no such number",
		`{"cents":1.5,"currency":"EUR"}`:                 "is no such number",
		`{"cents":1e2,"currency":"EUR"}`:                 "is no such number",
		`{"cents":"100","currency":"EUR"}`:               "is no such number",
		`{"cents":"NaN","currency":"EUR"}`:               "is no such number",
		`{"cents":[1],"currency":"EUR"}`:                 "is no such number",
		`{"cents":9223372036854775808,"currency":"EUR"}`: "is too large",
		`{"cents":1}`:                                    "is no unit",
		`{"cents":1,"currency":""}`:                      "is no unit",
		`{"cents":1,"currency":"E U R"}`:                 "is no unit",
		`{"cents":1,"currency":7}`:                       "is no unit",
	} {
		adm := judged(t, s, tools.Call{Session: "s", ID: input}, input)
		require.NotNil(t, adm.Rejected, input)
		require.Equal(t, tools.Denied, adm.Rejected.Status)
		require.Contains(t, adm.Rejected.Parts[0].Text, want, input)
	}
	require.Nil(t, judged(t, s, tools.Call{Session: "s", ID: "ok"}, `{"cents":0,"currency":"eur"}`).Rejected)
	per := newSum(t, policy.SumConfig{Limit: 50_00, PerUser: true})
	adm := judged(t, per, tools.Call{Session: "s", ID: "c"}, `{"cents":1}`)
	require.Contains(t, adm.Rejected.Parts[0].Text, "the run has none")
}

func TestASumOfTheLargestAmountsDoesntOverflow(t *testing.T) {
	const most = `{"cents":9223372036854775807}`
	s := newSum(t, policy.SumConfig{Limit: 1<<63 - 1})
	require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "1"}, most).Verdict.Effect)
	require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "1"}, most).Verdict.Effect, "the same call")
	require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "2"}, most).Verdict.Effect)
	require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "3"}, `{"cents":0}`).Verdict.Effect)
}

func TestEachUnitHasASumInAnyCase(t *testing.T) {
	s := newSum(t, policy.SumConfig{Limit: 100, Unit: "currency"})
	for i, c := range []struct {
		input string
		want  tools.Effect
	}{
		{`{"cents":60,"currency":"EUR"}`, tools.Allow}, {`{"cents":60,"currency":"USD"}`, tools.Allow},
		{`{"cents":60,"currency":"eur"}`, tools.Ask}, {`{"cents":40,"currency":"eUr"}`, tools.Allow},
	} {
		adm := judged(t, s, tools.Call{Session: "s", ID: string(rune('a' + i))}, c.input)
		require.Equal(t, c.want, adm.Verdict.Effect)
	}
}

func TestTheAmountOfACallThatDidntRunIsGivenBack(t *testing.T) {
	never := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Deny, Reason: "no"}
	}
	asks := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask, Reason: "sure?"}
	}
	const half = `refund:{"cents":3000}`
	reject := func(id string) agent.Decision { return agent.Reject(id, "no") }
	suggest := func(id string) agent.Decision { return agent.Suggest(id, "less") }
	edit := func(id string) agent.Decision { return agent.Edit(id, map[string]int{"cents": 2500}) }
	for name, c := range map[string]struct {
		more   tools.Policy
		decide func(id string) agent.Decision // nil: it isn't asked
		fails  error
		counts bool
	}{
		"denied by another policy":   {more: never},
		"rejected":                   {more: asks, decide: reject},
		"failed":                     {fails: errors.New("no answer"), counts: true},
		"in doubt":                   {fails: &tools.DoubtError{Err: errors.New("lost")}, counts: true},
		"approved and run":           {more: asks, decide: agent.Approve, counts: true},
		"edited before it is begun":  {more: asks, decide: edit, counts: true},
		"suggested something other":  {more: asks, decide: suggest},
		"superseded by other inputs": {more: asks},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSum(t, policy.SumConfig{Limit: 50_00})
			d := summing(s)
			other := c.more
			d.more.Policies = append(d.more.Policies,
				func(ctx context.Context, def *tools.Definition, call *tools.Call) tools.Verdict {
					if other == nil || def.Name() != "refund" {
						return tools.Verdict{}
					}
					return other(ctx, def, call)
				})
			d.fails = c.fails
			a := d.agent(t)
			pauses := ask(t, a, do("s", half))
			if c.decide != nil {
				require.Empty(t, ask(t, a, agent.Resume("s", c.decide(pauses[0].ID))))
			}
			other, d.fails = nil, nil
			in := do("s", half)
			in.Supersede = true
			require.Equal(t, c.counts, len(ask(t, a, in)) > 0)
		})
	}
}

func TestASumForAUserHoldsInAllSessionsAndProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.db")
	process := func() (*desk, *agent.Agent) {
		store, err := sqlite.Open(path, sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = store.Close() })
		d := summing(newSum(t, policy.SumConfig{Limit: 50_00, PerUser: true, Window: time.Hour,
			Store: store.Allowances("refunds")}))
		d.store = store
		return d, d.agent(t)
	}
	d1, a := process()
	d2, b := process()
	var both sync.WaitGroup
	both.Go(func() { _, _ = a.Run(t.Context(), do("s-1", pay)) })
	both.Go(func() { _, _ = b.Run(t.Context(), do("s-2", pay)) })
	both.Wait()
	require.Len(t, append(d1.ran, d2.ran...), 1, "one of two at the same time")
	d3, c := process()
	require.Contains(t, ask(t, c, do("s-3", pay))[0].Reason, "for this user; so far it is 4990")
	bob := do("s-4", pay)
	bob.User = "bob"
	require.Empty(t, ask(t, c, bob))
	require.Len(t, d3.ran, 1)
}

// A process dies between the reservation and the start of the call, or between that and its result.
func TestACrashNeitherForgetsNorRepeatsAnAmount(t *testing.T) {
	store := ratelimit.NewAllowanceMemory(0)
	s := newSum(t, policy.SumConfig{Limit: 50_00, Store: store})
	call := tools.Call{Session: "s", ID: "r-1.1.0", Fence: 1}
	require.Equal(t, tools.Allow, judged(t, s, call, `{"cents":3000}`).Verdict.Effect)
	s = newSum(t, policy.SumConfig{Limit: 50_00, Store: store})
	require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "other"}, `{"cents":3000}`).Verdict.Effect)
	call.Fence = 2 // the next process makes the same call
	require.Equal(t, tools.Allow, judged(t, s, call, `{"cents":3000}`).Verdict.Effect)
	// what the first process says late doesn't take it away, and a later one may
	gone := &agent.ToolCall{Session: "s", ID: call.ID, Name: "refund", Fence: 1}
	require.NoError(t, s.Hooks().AfterTool(t.Context(), gone, &agent.ToolResult{Status: tools.NotRun}))
	require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "other"}, `{"cents":3000}`).Verdict.Effect)
	gone.Fence = 3
	for _, kept := range []struct {
		ran    bool
		status tools.Status
	}{{true, tools.Rejected}, {false, tools.Answered}} {
		gone.Ran = kept.ran
		require.NoError(t, s.Hooks().AfterTool(t.Context(), gone, &agent.ToolResult{Status: kept.status}))
		adm := judged(t, s, tools.Call{Session: "s", ID: "other"}, `{"cents":3000}`)
		require.Equal(t, tools.Ask, adm.Verdict.Effect)
	}
	gone.Ran = false
	require.NoError(t, s.Hooks().AfterTool(t.Context(), gone, &agent.ToolResult{Status: tools.NotRun}))
	require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "other"}, `{"cents":3000}`).Verdict.Effect)
}

func TestAmountsCountForTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSum(t, policy.SumConfig{Limit: 100, Window: time.Hour})
		require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "1"}, `{"cents":60}`).Verdict.Effect)
		time.Sleep(2 * time.Hour)
		require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "2"}, `{"cents":60}`).Verdict.Effect,
			"it waits for a person, and may run yet")
		started(t, s, tools.Call{Session: "s", ID: "1"}, `{"cents":60}`)
		time.Sleep(time.Hour - 1)
		require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "2"}, `{"cents":60}`).Verdict.Effect)
		time.Sleep(time.Nanosecond)
		require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: "3"}, `{"cents":60}`).Verdict.Effect)
	})
}

func TestASumNeverCountsTooLittleHoweverManyCallsThereAre(t *testing.T) {
	s := newSum(t, policy.SumConfig{Limit: 1200})
	for i := range 1200 {
		id := string(rune('a'+i%26)) + time.Duration(i).String()
		require.Equal(t, tools.Allow, judged(t, s, tools.Call{Session: "s", ID: id}, `{"cents":1}`).Verdict.Effect, i)
	}
	require.Equal(t, tools.Ask, judged(t, s, tools.Call{Session: "s", ID: "more"}, `{"cents":1}`).Verdict.Effect)
}

// With a Window, what no longer counts goes away, however many calls there are in it.
func TestAmountsEndAlsoIfThereAreManyInAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSum(t, policy.SumConfig{Limit: 1 << 40, Window: time.Hour})
		const each = time.Second // 3,600 in a Window
		for i := range 5_000 {
			started(t, s, tools.Call{Session: "s", ID: strconv.Itoa(i)}, `{"cents":1}`)
			time.Sleep(each)
		}
		counts := soFar(t, s)
		require.GreaterOrEqual(t, counts, 3_599)
		require.Less(t, counts, 3_600*103/100)
		time.Sleep(time.Hour / 2)
		require.InDelta(t, 1_800, soFar(t, s), 1_800*.03)
		time.Sleep(time.Hour / 2)
		require.Zero(t, soFar(t, s))
	})
}

// soFar returns what the calls of a sum in session s come to.
func soFar(t *testing.T, s *policy.Sum) int {
	t.Helper()
	adm := judged(t, s, tools.Call{Session: "s", ID: "more"}, `{"cents":9223372036854775807}`)
	if adm.Verdict.Effect == tools.Allow {
		return 0
	}
	_, text, _ := strings.Cut(adm.Verdict.Reason, "so far it is ")
	n, err := strconv.Atoi(strings.Fields(text)[0])
	require.NoError(t, err)
	return n
}

func TestTheSumsOfManySessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, tool := newSum(t, policy.SumConfig{Limit: 100}), refundTool(t)
		call, denied := starting(tools.Call{ID: "1"}, `{"cents":60}`), 0
		for i := range 100_001 {
			if i == 100_000 {
				time.Sleep(24 * time.Hour)
			}
			if call.Session = strconv.Itoa(i); s.Policy()(t.Context(), tool, call).Effect != tools.Allow {
				denied++
			}
		}
		require.Zero(t, denied)
	})
}

func TestTheCallsOfSubagentsCountForTheSessionThatTheyWorkFor(t *testing.T) {
	sum := newSum(t, policy.SumConfig{Limit: 50_00})
	d := summing(sum)
	a := d.agent(t)
	const child = `helper:{"task":"do\nrefund:{\"cents\":4990}"}`
	require.Empty(t, ask(t, a, do("s", child)))
	require.Len(t, d.ran, 1)
	pauses := ask(t, a, do("s", child))
	require.Len(t, pauses, 1)
	require.Contains(t, pauses[0].Reason, "so far it is 4990")
	own := do("s", `refund:{"cents":4990}`)
	own.Supersede = true
	require.Len(t, ask(t, a, own), 1, "and its own")
	require.Empty(t, ask(t, a, do("s-2", `refund:{"cents":4990}`)))
	require.Len(t, ask(t, a, do("s-2", child)), 1)
	require.Len(t, d.ran, 2)
}

func TestTheAmountOfACallOfASubagentThatDidntRunIsGivenBack(t *testing.T) {
	d, asks := summing(newSum(t, policy.SumConfig{Limit: 50_00})), true
	d.more.Policies = append(d.more.Policies,
		func(_ context.Context, def *tools.Definition, _ *tools.Call) (v tools.Verdict) {
			if asks && def.Name() == "refund" {
				v.Effect = tools.Ask
			}
			return v
		})
	a := d.agent(t)
	require.Len(t, ask(t, a, do("s", `helper:{"task":"do\nrefund:{\"cents\":4990}"}`)), 1)
	asks = false
	in := do("s", `refund:{"cents":4990}`)
	in.Supersede = true
	require.Empty(t, ask(t, a, in))
	require.Len(t, d.ran, 1)
}

type downStore struct{}

func (downStore) Update(context.Context, string, ratelimit.AllowanceChange) error {
	return errors.New("down")
}

func TestASumWhoseStoreFailsDenies(t *testing.T) {
	s := newSum(t, policy.SumConfig{Limit: 100, Store: downStore{}})
	require.NotNil(t, judged(t, s, tools.Call{Session: "s", ID: "1"}, `{"cents":1}`).Rejected)
}

func TestASumSaysWhatIsWrongInItsConfiguration(t *testing.T) {
	for _, cfg := range []policy.SumConfig{{}, {Tool: "t"}, {Tool: "t", Field: "f", Unit: "f"},
		{Tool: "t", Field: "f", Limit: -1}, {Tool: "t", Field: "f", Window: -1}} {
		_, err := policy.NewSum(cfg)
		require.Error(t, err)
	}
}

func FuzzReadAmount(f *testing.F) {
	for _, seed := range []string{`{"a":1,"u":"EUR"}`, `{"a":-1}`, `{"a":1e3,"u":"x"}`, `{"a":"1"}`, `[]`, `{"a":NaN}`,
		`{"a":00012,"u":"€"}`, `{"a":9223372036854775808,"u":"EUR"}`, `{"a":1,"a":2,"u":"EUR"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		amount, unit, problem := policy.ReadAmount(input, "a", "u")
		if problem != "" {
			return
		}
		require.GreaterOrEqual(t, amount, int64(0))
		require.Regexp(t, `^[A-Z0-9]{1,16}$`, unit)
		var in struct {
			A json.Number `json:"a"`
		}
		if json.Unmarshal(input, &in) == nil && strings.Count(strings.ToLower(string(input)), `"a"`) == 1 &&
			!strings.Contains(string(input), `\`) {
			n, err := in.A.Int64()
			require.NoError(t, err)
			require.Equal(t, n, amount)
		}
	})
}
