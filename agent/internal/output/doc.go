// Package output bounds what a model may write in one reply, makes model calls that aren't steps of
// a run, and reads structured answers. The driver and package notes share it.
package output
