// Package secret keeps secrets out of texts and errors. It needs only the standard library.
//
// [Redact] finds secrets by their form, in a text of which nothing is known. [Values] removes
// secrets that are known, such as the key of a request from what a server answers to it, also where
// the server has encoded them.
package secret

// Redacted is what replaces a secret.
const Redacted = "[redacted]"
