//go:build !race

package process_test

const floodSize = 100 << 20
