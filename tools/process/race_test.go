//go:build race

package process_test

const floodSize = 10 << 20 // the race detector takes ten times as long
