package machine

import "github.com/pawlkit/pawl/provider"

// Conversation is replaced at merge.
func Conversation(facts []Fact) []provider.Message { return nil }
