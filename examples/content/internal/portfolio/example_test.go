package portfolio_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func Example() {
	dir, err := os.MkdirTemp("", "portfolio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := portfolio.Open(filepath.Join(dir, "content.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	a, err := s.Create(ctx, portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: "Remote work"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Move(ctx, "ann", a.ID, portfolio.Published, portfolio.ByUser)
	fmt.Println(err)
	a, err = s.Move(ctx, "ann", a.ID, portfolio.Archived, portfolio.ByUser)
	fmt.Println(a.Status, err)
	// Output:
	// An article can't go from draft to published that way.
	// archived <nil>
}
