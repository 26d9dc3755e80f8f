package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A long run: 300 steps, each of which reads about 1,300 tokens, under a window of 128,000. Each
// tenth result holds a fact. The model knows nothing but what its request holds: at step 290 it is
// asked for the fact of step 3, and says what it finds.
const (
	longGoal  = "the goal: build the site"
	longSteps = 300
)

type longModel struct {
	t        *testing.T
	meter    *memory.Meter
	requests int
	tokens   []int     // of each request
	shares   []float64 // how much of each request is a prefix that the one before had, too
	before   []string
	known    map[*provider.Part]string
}

func (m *longModel) answer(_ context.Context, req *provider.Request) (*provider.Response, error) {
	t := m.t
	total := m.meter.Count(req).Total
	require.LessOrEqual(t, total, 128_000-4_096, "request %d", m.requests)
	require.Equal(t, longGoal, req.Messages[0].Text(), "request %d", m.requests)
	require.NoError(t, paired(req.Messages), "request %d", m.requests)
	if m.requests > 1 {
		require.True(t, calledWith(req.Messages, "subgoal.begin", "the whole site"), "request %d: the open subgoal",
			m.requests)
	}
	text := sentPieces(t, req, m.known)
	same, all := commonPrefix(m.before, text)
	m.shares = append(m.shares, float64(same)/float64(all))
	m.before, m.tokens = text, append(m.tokens, total)
	m.requests++
	switch n := m.requests; {
	case n == 1:
		return callOf("subgoal.begin", map[string]any{"name": "the whole site"}), nil
	case n == 290:
		word := cmp.Or(regexp.MustCompile(`fact-3-is-\d+`).FindString(strings.Join(text, "")), "unknown")
		r := callOf("look", Number{n})
		r.Parts = append([]provider.Part{provider.TextPart("step 3 said " + word)}, r.Parts...)
		return r, nil
	case n == longSteps:
		return provider.TextResponse("done"), nil
	default:
		return callOf("look", Number{n}), nil
	}
}

func callOf(name string, input any) *provider.Response {
	data, _ := json.Marshal(input)
	return &provider.Response{Stop: provider.StopToolCalls, Parts: []provider.Part{{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: "c", Name: name, Input: data}}}}
}

// sentPieces is a request as a provider's cache sees it, in pieces: tools, system text, and each
// message. Those of messages that are known are taken from there: they don't change.
func sentPieces(t *testing.T, req *provider.Request, known map[*provider.Part]string) []string {
	pieces := []string{asText(t, req.Tools), req.System}
	for i := range req.Messages {
		at := &req.Messages[i].Parts[0]
		text, ok := known[at]
		if !ok {
			text = asText(t, req.Messages[i])
		}
		if known != nil {
			known[at] = text
		}
		pieces = append(pieces, text)
	}
	return pieces
}

// commonPrefix returns the bytes of the pieces that two requests begin with alike, and those of the
// second.
func commonPrefix(a, b []string) (same, all int) {
	alike := true
	for i := range b {
		if alike = alike && i < len(a) && a[i] == b[i]; alike {
			same += len(b[i])
		}
		all += len(b[i])
	}
	return same, all
}

// paired says what is wrong with the calls and results of a request.
func paired(messages []provider.Message) error {
	for i := range messages {
		calls := messages[i].Calls()
		if len(calls) == 0 {
			continue
		}
		if i+1 == len(messages) || len(messages[i+1].Parts) != len(calls) {
			return fmt.Errorf("message %d: %d calls without their results", i, len(calls))
		}
		for j, p := range messages[i+1].Parts {
			if p.Result == nil || p.Result.CallID != calls[j].ID {
				return fmt.Errorf("message %d: call %d isn't followed by its result", i, j)
			}
		}
	}
	return nil
}

func calledWith(messages []provider.Message, tool, text string) bool {
	for i := range messages {
		for _, c := range messages[i].Calls() {
			if c.Name == tool && strings.Contains(string(c.Input), text) {
				return true
			}
		}
	}
	return false
}

// keepsFacts is a summariser that keeps the facts that it is given.
func keepsFacts(_ context.Context, req *provider.Request) (*provider.Response, error) {
	var kept []string
	for _, w := range strings.Fields(req.LastUserText()) {
		if strings.HasPrefix(w, "fact-") {
			kept = append(kept, w)
		}
	}
	return &provider.Response{Stop: provider.StopDone,
		Parts: []provider.Part{provider.TextPart(strings.Join(kept, " "))}}, nil
}

func longRun(t *testing.T, mem *agent.Memory) (*longModel, []agent.Event, *agent.Agent) {
	t.Helper()
	counter := memory.NewEstimator(provider.ModelInfo{})
	m := &longModel{t: t, meter: memory.NewMeter(counter), known: make(map[*provider.Part]string)}
	mem.Counter, mem.Window, mem.Subgoals = counter, memory.Window{Size: 128_000},
		memory.SubgoalCalls("subgoal.begin", "subgoal.done")
	a := newAgent(t, agent.Config{
		Provider: providertest.Func(m.answer), Memory: mem, Journal: &journal.MapStore{},
		Limits: agent.Limits{Steps: longSteps + 1, Tokens: -1},
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "subgoal.begin", ReadOnly: true}, func(context.Context, struct {
				Name string `json:"name"`
			}) (string, error) {
				return "ok", nil
			}),
			tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(_ context.Context, in Number) (string, error) {
				fact := ""
				if in.N%10 == 3 {
					fact = fmt.Sprintf("fact-%d-is-%d ", in.N, in.N*in.N)
				}
				return fact + strings.Repeat("word ", 1_000), nil
			}),
		},
	})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: longGoal}))
	require.NoError(t, err)
	require.Len(t, of[*agent.StepStarted](all), longSteps)
	end := of[*agent.RunEnded](all)
	require.Equal(t, agent.Completed, end[len(end)-1].Status)
	require.Equal(t, longGoal, end[len(end)-1].Result.Messages[0].Text())
	return m, all, a
}

func summariser(t *testing.T, p provider.Provider) *memory.Summarise {
	t.Helper()
	s, err := memory.NewSummarise(memory.Summary{Provider: p})
	require.NoError(t, err)
	return s
}

// said returns what the model said at step 290.
func saidOf(all []agent.Event) string {
	for _, f := range of[*agent.Replied](all) {
		if f.Step == 290 {
			return f.Message.Text()
		}
	}
	return ""
}

func TestALongRunNeverOverflowsAndKnowsWhatItLearntAtItsBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		rules []memory.Rule
		saves bool // at least 40 % of the tokens up to where the run without compaction overflows
	}{
		"by default":            {},
		"at 50 %, down to 15 %": {[]memory.Rule{{When: memory.AtShare(.5), Target: .15}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := summariser(t, providertest.Func(keepsFacts))
			m, all, a := longRun(t,
				&agent.Memory{Config: memory.Config{Steps: memory.DefaultSteps(s), Store: &memory.MapStore{},
					Rules: c.rules}})
			require.Equal(t, "step 3 said fact-3-is-9", saidOf(all))
			require.Empty(t, of[*agent.MemoryWarning](all))

			compactions := of[*machine.Compacted](all)
			require.NotEmpty(t, compactions)
			for _, f := range compactions {
				require.Less(t, f.Report.After, f.Report.Before)
				require.LessOrEqual(t, f.Report.After, f.Report.Target)
			}
			sum, requests := 0.0, 0
			at := make(map[int]bool) // steps with a compaction before them
			for _, f := range compactions {
				at[f.Step+1] = true
			}
			for i, share := range m.shares[1:] {
				if !at[i+2] {
					sum += share
					requests++
				}
			}
			require.GreaterOrEqual(t, sum/float64(requests), .9, "the prompt cache holds")
			require.Greater(t, requests, 280)

			whole, with := overflowed(m.tokens)
			if c.saves {
				require.LessOrEqual(t, float64(with), .6*float64(whole))
			}
			require.Less(t, with, whole)
			t.Logf("%d compactions; %.3f of each request as before; %.2f of the tokens", len(compactions),
				sum/float64(requests), float64(with)/float64(whole))

			log := facts(t, a, "s") // the original stays in it, and replays to the same state
			require.Contains(t, asText(t, log), "fact-3-is-9 word")
			machine, err := machine.Replay("s", log...)
			require.NoError(t, err)
			require.NoError(t, paired(machine.State().Messages))
		})
	}
}

// overflowed returns the tokens of a run without compaction up to where it overflows, and of the
// same steps with it.
func overflowed(tokens []int) (whole, with int) {
	step := tokens[20] - tokens[19]
	for i := range tokens {
		alone := tokens[0] + i*step
		if alone > 128_000-4_096 {
			break
		}
		whole, with = whole+alone, with+tokens[i]
	}
	return whole, with
}

func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

func TestALongRunWhoseStrategyDropsAFactAnswersWrong(t *testing.T) {
	_, all, _ := longRun(t, &agent.Memory{Config: memory.Config{Steps: []memory.Step{{Strategy: memory.Slide{}}}}})
	require.Equal(t, "step 3 said unknown", saidOf(all))
}
