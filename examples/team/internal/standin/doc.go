// Package standin has models that need no key: scripts in place of language models, one for each
// role of the team. They know three projects. What they do has real effects: files are written, and
// go test judges them.
//
// The guide's script knows some twenty requests, each in a few wordings: see forms.go. What fits no
// form is answered with a list of those that do, and changes nothing. So a sentence that forbids,
// asks or sets a condition has no effect.
package standin
