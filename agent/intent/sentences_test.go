package intent_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
)

// plainHost returns a detector with the patterns of testdata, which know nothing of negations.
func plainHost(t testing.TB, model ...intent.Config) *intent.Detector {
	t.Helper()
	raw, err := os.ReadFile("testdata/rules.json")
	require.NoError(t, err)
	var cfg intent.Config
	if len(model) > 0 {
		cfg = model[0]
	}
	require.NoError(t, json.Unmarshal(raw, &cfg.Intents))
	d, err := intent.New(cfg)
	require.NoError(t, err)
	return d
}

var all = flag.Bool("all", false, "all sentences that forbid what the seen ones ask for, not a sixth of them")

// A sentence of testdata, with the intent that it is about.
type sentence struct{ intent, text string }

func sentencesIn(t testing.TB, file string) (list []sentence) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\n"), "\n") {
		name, text, ok := strings.Cut(line, "\t")
		require.True(t, ok, line)
		list = append(list, sentence{name, text})
	}
	require.Len(t, list, 100)
	return list
}

func TestNoneOf100SentencesThatForbidOrAskIsDone(t *testing.T) {
	d := plainHost(t)
	confirmed := 0
	for _, s := range sentencesIn(t, "forbid_ask.txt") {
		v := d.Match(s.text)
		require.NotEqual(t, intent.Act, v.Band(), "%q is done as %s", s.text, v.Intent)
		if v.Band() == intent.Confirm {
			confirmed++
		}
	}
	t.Logf("%d are asked about, all others are at most offered", confirmed)
	require.LessOrEqual(t, confirmed, 5)
}

// Sentences that the rules were written with, and those that were written by somebody else
// meanwhile.
func TestSentencesThatAskForSomethingAreUnderstood(t *testing.T) {
	for file, least := range map[string]int{"positive_seen.txt": 90, "positive_unseen.txt": 70} {
		t.Run(strings.TrimSuffix(file, ".txt"), func(t *testing.T) {
			d := plainHost(t)
			var acts, confirmed int
			for _, s := range sentencesIn(t, file) {
				v := d.Match(s.text)
				switch band := v.Band(); {
				case v.Intent != s.intent || band != intent.Act && band != intent.Confirm:
					t.Logf("%s: %q is %s %v", s.intent, s.text, v.Intent, v.Confidence)
				case band == intent.Act:
					acts++
				default:
					confirmed++
				}
			}
			t.Logf("%d are done, and %d after a confirmation", acts, confirmed)
			require.GreaterOrEqual(t, acts+confirmed, least)
		})
	}
}

// Whatever is asked for isn't done if the sentence begins by forbidding it.
func TestForbiddingASentenceThatAsksForSomething(t *testing.T) {
	d := plainHost(t)
	for i, s := range sentencesIn(t, "positive_seen.txt") {
		if i%6 > 0 && !*all {
			continue
		}
		text := strings.ToLower(s.text[:1]) + s.text[1:]
		for _, before := range [][]string{{"Please don't ", "never ", "yes, but don't ", "How can I ", "Why did you "},
			{"Bitte nicht: ", "ja, aber nicht ", "Auf keinen Fall ", "Warum soll ich "}}[min(i/60, 1)] {
			if v := d.Match(before + text); v.Band() == intent.Act {
				// what follows a full stop is a sentence of its own
				require.True(t, strings.ContainsAny(strings.TrimRight(text, ".?!"), ".?!,"), "%q is done as %s",
					before+text, v.Intent)
			}
		}
	}
}
