// Package model is what writes without a key: a script, which is a [provider.Provider]. It knows
// some fifteen requests in English, and calls the tools of package cmstools. It is no language
// model, and says so.
//
//	a, err := agent.New(agent.Config{Provider: model.New(), Tools: cmstools.All(cfg)})
//
// A request is one sentence, or several that "then" joins. A sentence has to fit a form (forms.go)
// from its beginning to its end; what doesn't is answered by the list of requests, and changes
// nothing. So questions, conditions, prohibitions and retractions never act: they fit no form.
// Names and texts are free. They are in quotation marks, or are the whole rest of the sentence, and
// then without the words that begin something else. Only a page that is called so is changed;
// another one is asked about. Lines that are a code span are what a person may say next; a page
// shows them as buttons.
//
// It keeps no state between calls. Each call goes through the newest message from its beginning,
// uses existing results instead of making calls again, and stops at the first call that has no
// result: so it continues in another process exactly as in the first. If an address is taken, it
// takes the free one that the error names; it follows a person's suggestion that is a request; and
// where only planning is allowed, it has the calls that write tried as a plan.
package model
