// Package consent asks before an assistant does what a person didn't ask for. A model that misreads
// "don't publish it", "should we delete it?" or "publish it. Wait, not yet." makes a call all the
// same; the policy of this package holds the call until the person decides.
//
//	heard := consent.Listen(self) // self returns the agent
//	…
//	Hooks:    []agent.Hooks{heard.Hooks()},
//	Policies: []tools.Policy{consent.Policy(consent.Config{Said: heard.Said, Judge: consent.Judge(model)})},
//
// A call of a tool that isn't read-only runs if the newest message asks for a change, and no
// earlier one may still forbid it. It asks if the message forbids, asks a question, takes something
// back or sets a condition.
//
// Rules in English and German, over package intent, decide where that is plain; they never make a
// call. All else [Judge] has a model decide, which sees the messages and the call: requests that
// have a "but" or a "don't" in them, other languages, misspelled words, and all requests after
// something was forbidden. If it doesn't know, the person is asked. A message that comes during a
// run can hold its next call, but asks for none before the model has read it.
package consent
