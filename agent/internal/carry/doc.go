// Package carry writes an agent.Input as JSON, for a queue that brings it to another process, and
// reads it there.
package carry
