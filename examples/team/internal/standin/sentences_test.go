package standin

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sentences of sentences.txt were written before the stand-in, and those of unseen.txt by
// somebody who had seen neither. What it misses may be an offer or an answer in place of an act,
// and never an act that wasn't asked for.
func TestSentencesThatPeopleType(t *testing.T) {
	for _, name := range []string{"sentences.txt", "unseen.txt"} {
		t.Run(name, func(t *testing.T) { understood(t, name) })
	}
}

// understood logs how many sentences of a file are understood. It fails if one is taken for an act
// that it doesn't ask for.
func understood(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var missed []string
	all := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(f) != 3 {
			continue
		}
		all++
		got := want(f[0], f[1])
		switch got {
		case "readme", "once", "package", "one":
			got = "change"
		}
		if got == f[2] {
			continue
		}
		missed = append(missed, f[0]+" | "+f[1]+" | wants "+f[2]+", gets "+got)
		require.Contains(t, []string{wantsOffer, wantsAnswer, wantsNothing, wantsStatus}, got,
			"an act that wasn't asked for: %s", line)
	}
	t.Logf("%d of %d sentences are understood", all-len(missed), all)
	for _, m := range missed {
		t.Log(m)
	}
}

// These name what the stand-in knows, and ask for something else.
func TestWhatIsNotAskedForIsNotDone(t *testing.T) {
	for _, text := range []string{
		"I already have a word counter", "Fix my word counter", "improve the slug package", "delete the word counter",
		"run the word counter", "Rename the word counter to wc", "Maybe build a word counter tomorrow",
		"Build a word counter in Python", `translate "build a word counter" into German`, "tell me about slugs",
		"She wants you to make a slug package", "write a poem about words", "stop building word counters",
		"should I use a slug package?", "Is building a word counter hard?", "have you ever built a csv parser",
		"I don't want a word counter", "please don't create any files", "yes", "go", "not now",
	} {
		require.Contains(t, []string{wantsOffer, wantsAnswer, wantsNothing}, want(atStart, text), text)
	}
	for _, text := range []string{"never stop", "should I stop it?", "what happens if I stop it?", "add a readme"} {
		require.Contains(t, []string{wantsOffer, wantsAnswer, wantsNothing}, want(atWork, text), text)
	}
	for _, text := range []string{"don't revert", "can I undo this?", "make another one", "what would undo do?"} {
		require.Contains(t, []string{wantsOffer, wantsAnswer, wantsNothing}, want(atEnd, text), text)
	}
}

// A question about what somebody can do is answered. It is a request only if it says that something
// is to be made.
func TestAQuestionAboutAbilitiesIsAnswered(t *testing.T) {
	for _, text := range []string{
		"can you count words?", "Could you count the words in my file?", "can you do slugs",
		"can you turn CSV into JSON?",
		"would you convert csv to json?", "Hey, can you parse csv and print json?", "could it make slugs?",
		"can this program count words?", "will it count words", "can I count words with this?",
		"should you build a word counter?", "Can a team like you build a slug package?", "kannst du Wörter zählen?",
		"could we get word counts?", "can we build a csv to json converter?",
	} {
		require.Equal(t, wantsAnswer, want(atStart, text), text)
	}
	for text, wants := range map[string]string{
		"can you build me a word counter?": "count", "Could you please write a slug package": "slug",
		"would you mind writing a csv to json converter?": "csv", "so, can you make a word counter": "count",
		"kannst du mir einen Wortzähler bauen?": "count",
	} {
		require.Equal(t, wants, want(atStart, text), text)
	}
}
