package agent

import (
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/tools"
)

// ownBreakers returns the breakers of an agent whose Config names none. A call takes as long as it may: a probe that takes
// longer than that doesn't exist, and one that takes less must not count as lost, or the breaker would never close.
func (a *Agent) ownBreakers() *circuit.Set {
	cfg := circuit.Tool()
	for _, d := range a.registry.All() {
		longest := d.Spec().Timeout
		if d.Spec().Progress {
			longest = max(longest, tools.ProgressLimit)
		}
		cfg.ProbeTimeout = max(cfg.ProbeTimeout, longest+2*grace)
	}
	cfg.OnChange = func(c circuit.Change) {
		if c.To == circuit.Open {
			a.logger.Warn("agent: calls of a tool are stopped for a while", "breaker", c.Name, "reason", c.Reason, "until", c.Until, "error", c.Cause)
		} else {
			a.logger.Info("agent: a breaker has changed", "breaker", c.Name, "from", c.From, "to", c.To, "reason", c.Reason)
		}
	}
	return circuit.NewSet(cfg)
}
