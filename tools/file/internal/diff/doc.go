// Package diff compares texts line by line, for the changes that package file stages: [Unified]
// shows a difference to a person, and [Merge] combines two changes of one text.
package diff
