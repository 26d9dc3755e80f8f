// Package model is a fake language model: a [provider.Provider] in plain Go that understands a documented set of requests
// about a content site, and calls the tools of package cmstools. It needs no key and no network.
//
//	a, err := agent.New(agent.Config{Provider: model.New(), Tools: cmstools.All(s)})
//
// It understands the grammar below, and ignores differences in case, articles, quotes, commas and politeness; to
// anything else it answers with a list of valid requests ([Help]). Names and values of several words that hold one of
// the grammar's own words ("and", "with", "to", …) go in quotes.
//
//	create a page called X | create an X page   [with a hero|text section [titled T] [saying B]] [with slug S] [with description D]
//	list pages | sections | collections | entries [of C]
//	show X | show entry X | preview X | find X
//	rename X to Y | change the slug of X to S | describe X as D (or: set the description of X to D)
//	delete X
//	add a hero|text section to X [titled T] [saying B]
//	remove | hide | publish the hero section on X
//	set the title of the hero on X to T         (also: subtitle, button text, heading, body)
//	write a blog entry titled X [saying B] | set the body of the entry X to B
//	help
//
// X is a page's name, its slug, something similar, or a word of its description: "the abuot page", and "the team page" if
// the page Members is described as "team, people, staff". It is looked up first, and the answer says which page it was
// resolved to. If two match equally well, the model asks which; if none matches well, it changes nothing without
// approval. Several requests may follow each other, joined by "then", by "and" before a verb, or by a full stop; "it" is
// the page mentioned last. "in German" at the end of a request is about the German contents.
//
// # How it works
//
// It keeps no state between calls. Each call processes the newest request of the conversation from its beginning, uses
// existing results instead of making calls again, and stops at the first call that has no result: so it continues in
// another process exactly as in the first. It reads results as a model does: if a slug is taken, it tries the free one that
// the error names; it reports a rejection, follows a person's suggestion if it understands it, and, where only planning is
// allowed, turns a write into a plan to be validated.
package model
