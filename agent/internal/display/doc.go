// Package display has what front ends share that show a session: what of a reply in progress a
// reader has seen ([Reply]), which facts of a log a session still shows ([Current]), whether a run
// that has stopped goes on by itself ([Interrupted]), and what a program has written ([Output]).
package display
