// Package cut shortens texts to a number of bytes: at one of their ends, or in the middle, where it
// keeps the lines that look important.
package cut
