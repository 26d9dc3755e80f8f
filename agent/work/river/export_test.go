package river

import (
	"encoding/json"

	"github.com/riverqueue/river"

	"github.com/pawlkit/pawl/agent"
)

// ConfigureWatch makes a client look for missing legs, and do none.
func ConfigureWatch(rc *river.Config, cfg Config) error {
	rc.Workers = river.NewWorkers()
	agents, err := cfg.check(&river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {}}})
	if err != nil {
		return err
	}
	w := &worker{cfg: cfg, agents: agents, journal: cfg.Agents[0].Journal()}
	river.AddWorker(rc.Workers, w) // a client inserts only jobs that it could do
	return w.addWatch(rc)
}

// LaterLeg returns the arguments of a job for a run that has started.
func LaterLeg(session, agentName, key string) river.JobArgs {
	return leg{Session: session, Agent: agentName, Key: key, Input: started(agent.Input{Session: session, Key: key})}
}

// WrittenLeg returns the arguments of a job as the database has them.
func WrittenLeg(data []byte) (river.JobArgs, error) {
	var args leg
	err := json.Unmarshal(data, &args)
	return args, err
}
