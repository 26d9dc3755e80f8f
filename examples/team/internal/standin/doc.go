// Package standin has models that need no key: tables and rules in place of language models, one
// for each role of the team. They know three projects. What they do has real effects: files are
// written, and go test judges them.
//
// A stand-in says that it is one. It never does what a sentence forbids or only asks about, and
// what it doesn't know it says, and offers what it knows: see package agent/intent for the rules
// about words.
package standin
