package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A part is tests of one package.
type part struct {
	pkg   string // its path of import
	tests *regexp.Regexp
}

// parseNames reads a file of names.
func parseNames(text string) ([]part, error) {
	var parts []part
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d has %d words; it wants a folder and a pattern of tests", i+1, len(words))
		}
		tests, err := regexp.Compile(words[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		parts = append(parts, part{module + "/" + words[0], tests})
	}
	return parts, nil
}

// named reports whether a test may run once more.
func named(parts []part, pkg, test string) bool {
	for _, p := range parts {
		if p.pkg == pkg && p.tests.MatchString(test) {
			return true
		}
	}
	return false
}
