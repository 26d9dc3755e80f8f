package lexicon_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

func Example() {
	l := lexicon.New(lexicon.Vocabulary{Verbs: "write|add", Words: map[string]string{"write": "write|draft|schreib",
		"post": "post|blog post", "add": "add", "picture": "picture|illustration"}, Determiners: "a"})
	rules := lexicon.Rules("WRITE write post", "PICTURE add picture")
	for _, c := range intent.Read(l.Correct("please wriet a post, but don't add a picutre")) {
		if name, first, last, ok := rules.Find(l.Tokens(c.Words)); ok {
			fmt.Println(name, c.Mood(first, last, ""))
		}
	}
	// Output:
	// WRITE mentions
	// PICTURE forbids
}
