// Package terminal is a conversation with an agent in a terminal.
package terminal
