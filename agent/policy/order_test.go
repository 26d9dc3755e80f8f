package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
)

var rounds = flag.Int("rounds", 1000, "how many calls TestTheLayersComeInTheirOrder makes")

// tool returns a tool that takes words.
func tool(name string, spec tools.Spec) tools.Tool {
	spec.Name = name
	return tools.New(spec, func(context.Context, command) (string, error) { return "ran", nil })
}

// words returns the input of such a tool.
func words(w ...string) json.RawMessage {
	text, _ := json.Marshal(cmd(w...))
	return text
}

// broken is a book with a rule that can't apply.
type broken struct{ policy.Book }

func (broken) Rules(context.Context, string) ([]policy.Rule, error) {
	return []policy.Rule{{Effect: tools.Deny, Tool: "*", Path: "/etc/**"}}, nil
}

// failing is a book that can't be read.
type failing struct{ policy.Book }

func (failing) Rules(context.Context, string) ([]policy.Rule, error) {
	return nil, errors.New("the disk is gone")
}

// TestTheLayersComeInTheirOrder compares what is decided about a random call, under random rules,
// with a list of the layers.
func TestTheLayersComeInTheirOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	flip := func(n int) bool { return rnd.IntN(n) == 0 }
	counts := make(map[string]int)
	for round := range *rounds {
		hardDeny, deny, bookDeny, broken := flip(6), flip(6), flip(6), flip(9)
		hardAsk, ask, wideGrant, grant := flip(6), flip(3), flip(3), flip(3)
		mode := []policy.Mode{policy.Plan, policy.Ask, policy.Edits, policy.Auto}[rnd.IntN(4)]
		spec := tools.Spec{Name: "run", ReadOnly: flip(4), Risk: tools.Risk(rnd.IntN(3)), AllowAlways: flip(2),
			Approval: tools.Approval(rnd.IntN(3))}
		f := tools.Func[command, string]{Spec: spec, Run: func(context.Context, command) (string, error) {
			return "ran", nil
		}}
		previews := flip(2)
		if previews {
			f.Preview = func(context.Context, command) (string, error) { return "+x", nil }
		}
		rules, book := new(policy.Rules), policy.InMemory()
		add := func(yes bool, list *[]policy.Rule, e tools.Effect, args ...string) {
			if yes {
				*list = append(*list, policy.Rule{Effect: e, Tool: "run", Args: args})
			}
		}
		add(hardDeny, &rules.Hard, tools.Deny, "go", "test")
		add(hardAsk, &rules.Hard, tools.Ask, "go")
		add(deny, &rules.Rules, tools.Deny, "go")
		add(ask, &rules.Rules, tools.Ask, "go", "test")
		add(wideGrant, &rules.Rules, tools.Allow, "go")
		var own []policy.Rule
		add(grant, &own, tools.Allow, "go", "test")
		add(bookDeny, &own, tools.Deny, "go")
		for _, r := range own {
			require.NoError(t, book.Put(t.Context(), "shop", r))
		}
		if broken {
			book = failing{book}
		}
		set, err := policy.New(policy.Config{Rules: rules, Book: book, Project: shop})
		require.NoError(t, err)
		reg, err := tools.NewRegistry(f)
		require.NoError(t, err)
		c := &tools.Call{Name: "run", Input: words("go", "test", "./..."), Mode: string(mode)}
		adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{set.Policy()})
		require.NoError(t, err)
		got := adm.Verdict.Effect
		if adm.Rejected != nil {
			got = tools.Deny
		}

		high := spec.Risk == tools.High && !spec.AllowAlways
		granted := grant || wideGrant && !ask // a wide grant doesn't answer a narrower rule
		own1 := spec.Approval == tools.AskAlways || spec.Approval == tools.AskIfHigh && spec.Risk == tools.High
		want, layer := tools.Allow, "the tool"
		switch {
		case hardDeny, deny, bookDeny, broken:
			want, layer = tools.Deny, "a denial"
		case mode == policy.Plan && !spec.ReadOnly:
			want, layer = tools.Deny, "the mode denies"
		case hardAsk:
			want, layer = tools.Ask, "a hard rule asks"
		case high && (own1 || !spec.ReadOnly):
			want, layer = tools.Ask, "high risk asks"
		case granted && !high:
			layer = "a grant"
		case ask:
			want, layer = tools.Ask, "a rule asks"
		case spec.ReadOnly && mode != policy.Auto:
			if own1 {
				want = tools.Ask
			}
		case mode == policy.Ask, mode == policy.Edits && (!previews || spec.Risk == tools.High) && !spec.ReadOnly:
			want, layer = tools.Ask, "the mode asks"
		default:
			layer = "the mode permits"
		}
		counts[layer]++
		require.Equal(t, want, got, "round %d: %s: hard %v, rules %v, book %v, mode %s, spec %+v, previews %v", round,
			layer, rules.Hard, rules.Rules, own, mode, spec, previews)
	}
	require.Len(t, counts, 9)
	for layer, n := range counts {
		require.Greater(t, n, *rounds/200, layer)
	}
}

func TestWhatCantBeReadDenies(t *testing.T) {
	reg, err := tools.NewRegistry(tool("run", tools.Spec{}))
	require.NoError(t, err)
	for says, cfg := range map[string]policy.Config{
		"the disk is gone":               {Book: failing{policy.InMemory()}},
		"rules of the book[0]: the path": {Book: broken{policy.InMemory()}},
		`no mode "both"`:                 {Mode: func(*tools.Call) policy.Mode { return "both" }},
		"no words here": {Subjects: map[string]func(json.RawMessage) (policy.Subject, error){
			"run": func(json.RawMessage) (policy.Subject, error) {
				return policy.Subject{}, errors.New("no words here")
			}}},
	} {
		set, err := policy.New(cfg)
		require.NoError(t, err)
		c := &tools.Call{Name: "run", Input: words("ls"), Mode: "auto"}
		adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{set.Policy()})
		require.NoError(t, err)
		require.NotNil(t, adm.Rejected, says)
		require.Contains(t, adm.Rejected.Parts[0].Text, says)
	}
}

func TestAHostSaysWhatAToolIsAbout(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"hard":[{"effect":"deny","tool":"run","args":["ls","-R"]}]}`))
	require.NoError(t, err)
	list := func(input json.RawMessage) (policy.Subject, error) {
		var in command
		err := json.Unmarshal(input, &in)
		return policy.Subject{Args: append([]string{"ls"}, in.Args...)}, err
	}
	set, err := policy.New(policy.Config{Rules: rules,
		Subjects: map[string]func(json.RawMessage) (policy.Subject, error){"run": list}})
	require.NoError(t, err)
	reg, err := tools.NewRegistry(tool("run", tools.Spec{}))
	require.NoError(t, err)
	c := &tools.Call{Name: "run", Input: words("x", "-l", "-R"), Mode: "auto"}
	adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{set.Policy()})
	require.NoError(t, err)
	require.NotNil(t, adm.Rejected)
}
