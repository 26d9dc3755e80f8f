// Package transcripts holds scripts of runs that are tests. A script is a text file in testdata:
// each command is followed by what happens.
package transcripts
