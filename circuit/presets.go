package circuit

import "time"

// LLM returns the figures for a provider of models: opens after 5 failures in a row or 50 % of the
// last 20, for 30 s; closes after 3 probes of at most 5 min each, since a long reply is no failure.
func LLM() Config {
	return Config{Consecutive: 5, Rate: .5, Window: 20, Cooldown: 30 * time.Second, ClosesAfter: 3,
		ProbeTimeout: 5 * time.Minute}
}

// File returns the figures for a file system: opens after 2 failures in a row or 30 % of the last
// 10, for 10 s; closes after 2 probes of at most 30 s each.
func File() Config {
	return Config{Consecutive: 2, Rate: .3, Window: 10, Cooldown: 10 * time.Second, ClosesAfter: 2,
		ProbeTimeout: 30 * time.Second}
}

// Network returns the figures for a service on the network: opens after 3 failures in a row or 50 %
// of the last 20, for 30 s; closes after 3 probes of at most 1 min each. These are the defaults of
// a [Config].
func Network() Config {
	return Config{Consecutive: 3, Rate: .5, Window: 20, Cooldown: 30 * time.Second, ClosesAfter: 3,
		ProbeTimeout: time.Minute}
}

// Subprocess returns the figures for programs that are started: opens after 3 failures in a row or
// 40 % of the last 15, for 20 s; closes after 2 probes of at most 5 min each.
// A program that doesn't exist is no failure ([fault.NotFound]); set Counts if it should be one.
func Subprocess() Config {
	return Config{Consecutive: 3, Rate: .4, Window: 15, Cooldown: 20 * time.Second, ClosesAfter: 2,
		ProbeTimeout: 5 * time.Minute}
}

// Tool returns the figures for an agent's tool: opens after 3 failures in a row or 50 % of the last
// 10, for 10 s; closes after 1 probe of at most 90 s.
func Tool() Config {
	return Config{Consecutive: 3, Rate: .5, Window: 10, Cooldown: 10 * time.Second, ClosesAfter: 1,
		ProbeTimeout: 90 * time.Second}
}
