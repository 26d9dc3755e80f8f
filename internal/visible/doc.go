// Package visible removes characters from texts that a person doesn't see and a model reads. Text
// from outside may hide instructions in them.
package visible
