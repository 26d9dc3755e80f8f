// Package model is a fake language model: a [provider.Provider] in plain Go that understands a
// documented set of requests about a content site, and calls the tools of package cmstools. It
// needs no key and no network.
//
//	a, err := agent.New(agent.Config{Provider: model.New(), Tools: cmstools.All(s)})
//
// It is a table of scenarios: what is said, which calls it takes, and what is answered (table.go).
// The sentences are those of [Help], with a few variants; to anything else it answers with that
// list. Names and texts of several words that hold the words "with", "titled", "called" or "saying"
// go in quotes.
//
// A page is named by its name, its slug, something similar, or a word of its description. It is
// looked up first, and the answer says which page it was resolved to. If two match equally well,
// the model asks which; if none matches well, it asks before it changes something without approval.
// The answer may be "yes" or a slug. Several requests may follow each other, joined by "then", by
// "and" before a verb, or by a full stop; "it" is the page mentioned last. "in German" at the end
// of a request is about the German contents.
//
// It keeps no state between calls. Each call processes the newest message of the conversation from
// its beginning, uses existing results instead of making calls again, and stops at the first call
// that has no result: so it continues in another process exactly as in the first. If a slug is
// taken, it tries the free one that the error names; it reports a rejection, follows a person's
// suggestion if it understands it, and, where only planning is allowed, has the calls that write
// validated as a plan.
package model
