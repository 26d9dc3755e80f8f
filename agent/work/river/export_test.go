package river

import (
	"github.com/riverqueue/river"

	"github.com/pawlkit/pawl/agent"
)

// ConfigureWatch makes a client look for missing legs, and do none.
func ConfigureWatch(rc *river.Config, cfg Config) error {
	rc.Workers = river.NewWorkers()
	w := &worker{cfg: cfg}
	river.AddWorker(rc.Workers, w) // a client inserts only jobs that it could do
	return w.addWatch(rc)
}

// Carried returns an input after a job has carried it.
func Carried(in agent.Input) (agent.Input, error) {
	text, err := encode(&in)
	if err != nil {
		return in, err
	}
	return decode(text)
}
