package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools"
)

func TestASumOfTwoProcessesIsThatOfOne(t *testing.T) {
	const limit = 60
	cfg := empty(t)
	var payers []*roletest.Process
	for i := range 2 {
		payers = append(payers, roletest.Start(t, "pay", cfg.DSN, cfg.Schema, strconv.Itoa(limit), fmt.Sprint("s-", i)))
	}
	roletest.Together(t, payers...)
	require.Equal(t, limit, roletest.Sum(t, payers...))
}

// payFrom is the role of a process that makes calls of 1 cent in 4 goroutines, until each of them
// is asked about one, and says how many calls weren't.
func payFrom(args []string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, postgres.Config{DSN: args[0], Schema: args[1]})
	if err != nil {
		return err
	}
	defer s.Close()
	limit, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	sum, err := policy.NewSum(policy.SumConfig{Tool: "pay", Field: "cents", Limit: limit, Window: time.Hour,
		PerUser: true, Store: s.Allowances("payments")})
	if err != nil {
		return err
	}
	registry, err := tools.NewRegistry(tools.Raw{
		Spec: tools.Spec{Name: "pay", Schema: json.RawMessage(`{"type":"object"}`)},
		Run:  func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text("paid"), nil }})
	if err != nil {
		return err
	}
	roletest.Ready()
	var (
		all  sync.WaitGroup
		paid atomic.Int64
		ends = make([]error, 4)
	)
	pay := func(id string) (bool, error) {
		call := &tools.Call{Session: args[3], ID: id, User: "ann", Name: "pay", Input: json.RawMessage(`{"cents":1}`)}
		adm, err := registry.Admit(ctx, call, nil, nil, []tools.Policy{sum.Policy()})
		if err != nil || adm.Verdict.Effect == tools.Ask {
			return false, err
		}
		if adm.Verdict.Effect != tools.Allow {
			return false, fmt.Errorf("the call isn't allowed: %+v", adm)
		}
		return true, nil
	}
	for i := range ends {
		all.Go(func() {
			for n := 0; ; n++ {
				ok, err := pay(fmt.Sprint(i, ".", n))
				if ends[i] = err; !ok {
					return
				}
				paid.Add(1)
			}
		})
	}
	all.Wait()
	for _, err := range ends {
		if err != nil {
			return err
		}
	}
	fmt.Println(paid.Load())
	return nil
}
