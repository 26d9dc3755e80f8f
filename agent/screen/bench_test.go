package screen_test

import (
	"strings"
	"testing"

	"github.com/pawlkit/pawl/agent/screen"
)

// BenchmarkCheck measures a sentence and the longest text.
func BenchmarkCheck(b *testing.B) {
	s, err := screen.New(screen.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"sentence": everyday[0].text,
		"longest": strings.Repeat("Create a page. ", 666)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Check(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
