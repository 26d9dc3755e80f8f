// Package filetest gives each test a copy of a file that takes longer to make than to copy, such as
// a database with its tables.
package filetest
