package circuit

// Normal is [Config.normal].
func Normal(c Config) Config { return c.normal() }

const (
	ByHand       = byHand
	CooldownOver = cooldownOver
	FailureRate  = failureRate
	ProbeExpired = probeExpired
	ProbeFailed  = probeFailed
	ProbesPassed = probesPassed
)
