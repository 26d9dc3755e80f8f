// Package memory keeps a conversation within a model's window.
package memory
