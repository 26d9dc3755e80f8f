package river_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
)

func newAgent(t *testing.T, store journal.Store) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{Name: "writer", Provider: model(), Journal: store})
	require.NoError(t, err)
	return a
}

func TestConfigureSaysWhatIsWrongAndChangesNothing(t *testing.T) {
	store := &journal.MapStore{}
	a, other := newAgent(t, store), newAgent(t, &journal.MapStore{})
	one := func() pawlriver.Config {
		return pawlriver.Config{Pool: new(pgxpool.Pool), Agents: []*agent.Agent{a}}
	}
	for field, change := range map[string]func(*river.Config, *pawlriver.Config){
		"Config.Pool":         func(_ *river.Config, c *pawlriver.Config) { c.Pool = nil },
		"Config.Agents":       func(_ *river.Config, c *pawlriver.Config) { c.Agents = nil },
		"Config.Watch":        func(_ *river.Config, c *pawlriver.Config) { c.Watch = time.Millisecond },
		"river.Config.Queues": func(rc *river.Config, _ *pawlriver.Config) { rc.Queues = nil },
	} {
		rc, cfg := riverConfig(1), one()
		change(rc, &cfg)
		requireArg(t, field, pawlriver.Configure(rc, cfg))
		require.Nil(t, rc.Workers)
		require.Empty(t, rc.PeriodicJobs)
	}
	for _, b := range []*agent.Agent{nil, other, a} {
		cfg := one()
		cfg.Agents = append(cfg.Agents, b)
		requireArg(t, "Config.Agents", pawlriver.Configure(riverConfig(1), cfg))
	}
	requireArg(t, "", pawlriver.Configure(nil, one()))
	rc := riverConfig(1)
	require.NoError(t, pawlriver.Configure(rc, one()))
	require.ErrorContains(t, pawlriver.Configure(rc, one()), "before")
	require.Len(t, rc.PeriodicJobs, 1)
}

func TestConfigureLeavesTheOtherJobsOfTheClientAlone(t *testing.T) {
	cfg := pawlriver.Config{Pool: new(pgxpool.Pool), Agents: []*agent.Agent{newAgent(t, nil)}}
	own := river.NewPeriodicJob(river.NeverSchedule(), nil, nil)
	rc := riverConfig(3)
	queues := rc.Queues
	rc.PeriodicJobs, rc.SoftStopTimeout, rc.JobTimeout = []*river.PeriodicJob{own}, time.Minute, time.Hour
	require.NoError(t, pawlriver.Configure(rc, cfg))
	require.Len(t, rc.PeriodicJobs, 2)
	require.Same(t, own, rc.PeriodicJobs[0])
	require.Equal(t, time.Minute, rc.SoftStopTimeout)
	require.Equal(t, time.Hour, rc.JobTimeout)
	require.Zero(t, rc.RescueStuckJobsAfter)
	require.Len(t, queues, 1, "the map is the caller's")
	require.Len(t, rc.Queues, 2)

	rc = riverConfig(3)
	rc.LeaderElectionDisabled = true // River refuses periodic jobs then
	require.NoError(t, pawlriver.Configure(rc, cfg))
	require.Empty(t, rc.PeriodicJobs)
	require.Equal(t, 10*time.Second, rc.SoftStopTimeout)
}
