package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools"
)

const perProcess = 10

// grantMany puts rules into the file args[0], under the name args[1].
func grantMany(args []string) error {
	book := policy.File(args[0])
	roletest.Ready()
	for i := range perProcess {
		if err := book.Put(context.Background(), "p", policy.Rule{Tool: fmt.Sprintf("%s%d", args[1], i)}); err != nil {
			return err
		}
	}
	fmt.Println(perProcess)
	return nil
}

func TestTwoProcessesLoseNoGrant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "grants.json")
	a, b := roletest.Start(t, "grant", path, "a"), roletest.Start(t, "grant", path, "b")
	roletest.Together(t, a, b)
	require.Equal(t, 2*perProcess, roletest.Sum(t, a, b))
	rules, err := policy.File(path).Rules(t.Context(), "p")
	require.NoError(t, err)
	require.Len(t, rules, 2*perProcess)
	require.Equal(t, tools.Allow, rules[0].Effect)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// eachBook runs a test with both books.
func eachBook(t *testing.T, test func(t *testing.T, b policy.Book)) {
	t.Run("in memory", func(t *testing.T) { test(t, policy.InMemory()) })
	t.Run("in a file", func(t *testing.T) { test(t, policy.File(filepath.Join(t.TempDir(), "grants.json"))) })
}

func TestABookKeepsWhatItIsGiven(t *testing.T) {
	eachBook(t, func(t *testing.T, b policy.Book) {
		ctx := t.Context()
		rule := policy.Rule{Tool: "run", Args: []string{"go", "test"}, By: "ann"}
		ofPlan := rule
		ofPlan.By = "plan 7, version 2"
		for _, r := range []policy.Rule{rule, ofPlan, rule} {
			require.NoError(t, b.Put(ctx, "a", r))
		}
		rules, err := b.Rules(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, []policy.Rule{ofPlan, rule}, rules, "the same is kept once")
		require.NoError(t, b.Drop(ctx, "a", ofPlan))
		require.NoError(t, b.Drop(ctx, "a", ofPlan))
		require.NoError(t, b.Drop(ctx, "b", rule))
		rules, err = b.Rules(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, []policy.Rule{rule}, rules)
		rules, err = b.Rules(ctx, "b")
		require.NoError(t, err)
		require.Empty(t, rules)
		require.ErrorContains(t, b.Put(ctx, "a", policy.Rule{}), "the tool is")

		m, err := b.Mode(ctx, "s")
		require.NoError(t, err)
		require.Empty(t, m)
		require.NoError(t, b.SetMode(ctx, "s", policy.Plan))
		m, err = b.Mode(ctx, "s")
		require.NoError(t, err)
		require.Equal(t, policy.Plan, m)
		require.NoError(t, b.SetMode(ctx, "s", ""))
		m, err = b.Mode(ctx, "s")
		require.NoError(t, err)
		require.Empty(t, m)
	})
}

func TestAFileThatWouldBeTooLongIsntWritten(t *testing.T) {
	b := policy.File(filepath.Join(t.TempDir(), "grants.json"))
	require.NoError(t, b.Put(t.Context(), "a", policy.Rule{Tool: "run"}))
	require.Error(t, b.Put(t.Context(), "a", policy.Rule{Tool: "run", Why: strings.Repeat("x", 1<<20)}))
	rules, err := b.Rules(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []policy.Rule{{Tool: "run"}}, rules)
}

func TestRulesThatHaveEndedAreGone(t *testing.T) {
	eachBook(t, func(t *testing.T, b policy.Book) {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			require.NoError(t, b.Put(ctx, "a", policy.Rule{Tool: "run", Until: time.Now().Add(time.Hour)}))
			time.Sleep(59 * time.Minute)
			rules, err := b.Rules(ctx, "a")
			require.NoError(t, err)
			require.Len(t, rules, 1)
			time.Sleep(time.Minute)
			rules, err = b.Rules(ctx, "a")
			require.NoError(t, err)
			require.Empty(t, rules)
		})
	})
}

func TestAFileThatCantBeUsedDenies(t *testing.T) {
	whole := `{"projects":{},"modes":{}}`
	for name, text := range map[string]string{
		"empty": "", "cut": whole[:20], "more": whole + "{}", "null": "null",
		"no modes":      `{"projects":{},"modes":null}`,
		"without modes": `{"projects":{}}`,
		"twice":         `{"projects":{},"modes":{},"modes":{}}`,
		"unknown":       `{"projects":{},"modes":{},"x":1}`,
		"a bad effect":  `{"projects":{"":[{"effect":"maybe","tool":"a"}]},"modes":{}}`,
		"too large":     whole + strings.Repeat(" ", 1<<20),
		"writable":      whole, "a directory": "", "a link": "",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "grants.json")
			switch name {
			case "a directory":
				require.NoError(t, os.Mkdir(path, 0o700))
			case "a link":
				require.NoError(t, os.Symlink("../other.json", path))
			default:
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			if name == "writable" {
				require.NoError(t, os.Chmod(path, 0o622))
			}
			b := policy.File(path)
			_, err := b.Rules(t.Context(), "")
			var broken *fault.FixableError
			require.ErrorAs(t, err, &broken)
			require.Contains(t, broken.Error(), path)
			_, err = b.Mode(t.Context(), "s")
			require.ErrorAs(t, err, &broken)
			require.ErrorAs(t, b.Put(t.Context(), "", policy.Rule{Tool: "a"}), &broken, "nothing is overwritten")
			require.ErrorAs(t, b.SetMode(t.Context(), "s", policy.Plan), &broken)

			set, err := policy.New(policy.Config{Book: b})
			require.NoError(t, err)
			reg, err := tools.NewRegistry(tool("look", tools.Spec{ReadOnly: true}))
			require.NoError(t, err)
			adm, err := reg.Admit(t.Context(), &tools.Call{Name: "look", Input: words("x"), Mode: "auto"}, nil, nil,
				[]tools.Policy{set.Policy()})
			require.NoError(t, err)
			require.NotNil(t, adm.Rejected)
			require.Contains(t, adm.Rejected.Parts[0].Text, "nothing is permitted")
		})
	}
}

func TestReadersSeeWholeChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	var writers sync.WaitGroup
	done := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			for i := range 4 {
				err := policy.File(path).Put(t.Context(), "p", policy.Rule{Tool: fmt.Sprint(w, "-", i)})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for most := 0; ; {
		rules, err := policy.File(path).Rules(t.Context(), "p")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(rules), most)
		most = len(rules)
		select {
		case <-done:
			rules, err := policy.File(path).Rules(t.Context(), "p")
			require.NoError(t, err)
			require.Len(t, rules, 12)
			return
		default:
		}
	}
}

func TestTheAgentCantWriteTheFileOfGrants(t *testing.T) {
	root, list := workspace(t)
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	path := filepath.Join(root, ".pawl", "grants.json")
	book := policy.File(path)
	require.NoError(t, book.Put(t.Context(), root, policy.Rule{Tool: "file.*"}))
	require.NoError(t, os.Symlink(".pawl", filepath.Join(root, "notes")))
	set, err := policy.New(policy.Config{Book: book, Project: func(*tools.Call) string { return root }})
	require.NoError(t, err)
	for _, in := range []map[string]string{{"path": ".pawl/grants.json"}, {"path": ".PAWL/Grants.json"},
		{"path": "notes/grants.json"}, {"path": path}, {"from": "docs/a.md", "to": ".pawl/grants.json"},
		{"from": ".pawl", "to": "old"}} {
		name := "file.write"
		if in["content"] = "x"; in["path"] == "" {
			name = "file.move"
			delete(in, "content")
		}
		input, err := json.Marshal(in)
		require.NoError(t, err)
		adm, err := reg.Admit(t.Context(), &tools.Call{Name: name, Input: input, Mode: "auto"}, nil, nil,
			[]tools.Policy{set.Policy()})
		require.NoError(t, err)
		require.NotNil(t, adm.Rejected, "%v", in)
		require.Contains(t, adm.Rejected.Parts[0].Text, "what people permit")
	}
}
