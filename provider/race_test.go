//go:build race

package provider_test

const raceEnabled = true
