// Package standin has a model that needs no key, for a coding agent: a script in place of a
// language model, and a small repository in which a test fails. What it does is real: it reads,
// edits and searches files, runs go and git, and decides by what these say, so that it goes on
// after a crash, an undo, a rejection with a reason and an edited input as it would from the start.
//
// It mends the test, adds a function with a test, finds and explains, runs the tests, and reviews
// and commits. Finding, running tests and simple edits ("replace OLD by NEW in FILE") work in any
// Go repository. It knows these requests in a few wordings each: see forms.go. What fits no form is
// answered with a list of those that do, and changes nothing. So a sentence that forbids, asks or
// sets a condition has no effect.
//
// It calls these tools: file.list, file.read, file.search, file.edit and file.write of package
// tools/file, run of package tools/process with the programs go and git, and, if they are there,
// ask of package agent and plan.submit of package agent/plan.
package standin
