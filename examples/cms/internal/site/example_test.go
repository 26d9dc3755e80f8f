package site_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory/index"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := site.Open(filepath.Join(dir, "site.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	page, err := s.CreatePage(ctx, site.CreatePage{
		Name:        "Members",
		Description: "The people on our team",
		Sections:    []site.NewSection{{Section: "hero", Content: map[string]any{"title": "Who we are"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Slug, page.Sections[0].Content["title"])

	// An error says how to correct the request.
	_, err = s.SyncContents(ctx, site.SyncContents{Page: "members", Content: map[string]any{"titel": "The team"}})
	var wrong *site.Error
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Code+":", wrong)
	}

	// Names needn't be exact.
	found, err := s.Find(ctx, "the taem page", index.Filter{}, 0)
	if err != nil {
		log.Fatal(err)
	}
	if hit, ok := found.One(); ok {
		fmt.Println(hit.Item.Kind, hit.Item.Name)
	}

	// A deletion can be undone.
	deleted, err := s.DeletePage(ctx, "members")
	if err != nil {
		log.Fatal(err)
	}
	if page, err = s.RestorePage(ctx, deleted); err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Name, "is back with", len(page.Sections), "section")
	// Output:
	// members Who we are
	// invalid: section "hero" has no slot "titel"; did you mean "title"? use one of "title", "subtitle", "image", "ctaText", "ctaLink"
	// page Members
	// Members is back with 1 section
}
