// Package glob compares names of files with patterns, as tools/file and agent/policy do.
package glob
