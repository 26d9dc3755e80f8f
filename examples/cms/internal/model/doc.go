// Package model is a stand-in for a language model: a [provider.Provider] in plain Go that
// understands what editors of a small website write, in English and German, and calls the tools of
// package cmstools. It needs no key and no network.
//
//	a, err := agent.New(agent.Config{Provider: model.New(), Tools: cmstools.All(cfg)})
//
// A sentence is split into wishes, each of them a verb and what it is about: words.json has the
// words, also misspelled ones are understood, and forms.json the forms, each a verb, an object, the
// call that it takes and what is answered. A value is a part of the sentence; in quotes it may hold
// anything. Names are looked up first. If two match equally well, or none well, the model asks, and
// offers the sentence with each name.
//
// All wishes of a message are understood, or none is carried out. What isn't understood is answered
// with the three nearest forms, filled in with what was. A question changes nothing, nor does a
// sentence that forbids, takes itself back, or names a condition. Lines that are a code span are
// what a person may say next; a page shows them as buttons.
//
// It keeps no state between calls. Each call processes the newest message of the conversation from
// its beginning, uses existing results instead of making calls again, and stops at the first call
// that has no result: so it continues in another process exactly as in the first. If a slug is
// taken, it tries the free one that the error names; it reports a rejection, follows a person's
// suggestion if it understands it, and, where only planning is allowed, has the calls that write
// validated as a plan.
package model
