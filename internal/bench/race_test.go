//go:build race

package bench

const race = true
