// Package model is a stand-in for a language model: a [provider.Provider] in plain Go that understands a documented set of
// requests about a content site, and calls the tools of package cmstools. It needs no key and no network.
//
//	a, err := agent.New(agent.Config{Provider: model.New(), Tools: cmstools.All(s)})
//
// It is no language model. What it understands is the grammar below, forgiving in case, articles, quotes, commas and
// politeness; to anything else it answers with what it understands ([Help]). Names and values of several words that hold
// one of the grammar's own words ("and", "with", "to", …) go in quotes.
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
// X is a page's name, its slug, something like it, or a word of its description: "the abuot page", and "the team page" if the page
// Members is described as "team, people, staff". It is looked up first, and the answer says what it was taken to mean. If two fit
// equally well, the model asks which; if none fits well, it changes nothing without a person's consent. Several requests may follow
// each other, joined by "then", by "and" before a verb, or by a full stop; "it" is the page spoken of last. "in German"
// at the end of a request is about the German contents.
//
// # How it decides
//
// It keeps nothing between calls. Each call works the newest request of the conversation through from its beginning,
// takes the results that are there in place of making the calls again, and stops at the first call that has no result: so
// it goes on in another process as it would have in the first. It reads results as a model does: a taken slug makes it
// try the free one that the error names, a rejection is reported, a person's suggestion is followed if it is understood, and
// where only planning is allowed a write becomes a plan to be validated.
package model
