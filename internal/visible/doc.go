// Package visible removes characters from texts that a person doesn't see and a model reads, and
// shows them in names. Text from outside may hide instructions in them, or look like another one.
package visible
