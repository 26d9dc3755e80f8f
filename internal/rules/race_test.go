//go:build race

package rules

// raceFlag builds programs as the tests are built, from what the build cache has then.
const raceFlag = "-race"
