package wish_test

import (
	"fmt"

	"github.com/pawlkit/pawl/examples/content/internal/wish"
)

func Example() {
	r := wish.New()
	launch := wish.Artifact{ID: "1", Title: "Spring launch", Type: "blog", Status: "draft"}
	at := wish.Place{Open: "1", Artifacts: []wish.Artifact{launch}}
	w := r.Read("reserch this", at)
	fmt.Println(w.Intent, w.Artifact, w.Steps)
	w = r.Read("Write a post about hiring", at)
	fmt.Println(w.Intent, w.New, w.Title, w.Type)
	w = r.Read("Don't research this yet", at)
	fmt.Println(w.Why, w.Say)
	// Output:
	// RESEARCH_TOPIC 1 [topicResearch]
	// FULL_PIPELINE true Hiring social_post
	// forbids OK, I don't research it.
}
