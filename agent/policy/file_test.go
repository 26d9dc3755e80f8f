package policy_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools"
)

const perProcess = 25

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
}
