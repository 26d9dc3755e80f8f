// Package secret keeps secrets out of texts and errors. It needs only the standard library.
//
// [Redact] finds secrets by their form, in a text of which nothing is known. [Values] removes
// secrets that are known, such as the key of a request from what a server answers to it, also where
// the server has encoded them. [Set] does the same with secrets that come and go.
package secret

// Redacted is what replaces a secret.
const Redacted = "[redacted]"
