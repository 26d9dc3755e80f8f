package assistant_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider/providertest"
)

func Example() {
	dir, err := os.MkdirTemp("", "content")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := assistant.New(assistant.Config{
		DB: filepath.Join(dir, "content.db"), Model: standin.Model(), Images: providertest.Draw(),
		Sources: standin.Sources(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	a, err := s.Store.Create(ctx, portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: "Remote work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := s.Execute(ctx,
		assistant.Request{User: "ann", Message: "Create content for artifact " + a.ID + ": Remote work"})
	fmt.Println(answer.Intent, answer.StatusTransition.From, "->", answer.StatusTransition.To)
	fmt.Println(answer.Message)
	answer = s.Execute(ctx,
		assistant.Request{User: "ann", Message: "Research this topic", Screen: assistant.Screen{ArtifactID: a.ID}})
	fmt.Println(answer.Message)
	// Output:
	// FULL_PIPELINE draft -> ready
	// Done: research, outline, text, revision and images. “Remote work” is ready.
	// Research “Remote work” again? “Remote work” was researched before. New sources are added; the text stays as it is.
}
