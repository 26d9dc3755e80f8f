// Package stops has tests alone: they stop a process in each way, at each point of runs and of
// plans, and let the next process go on. The table of docs/durability.md is made by them.
package stops
