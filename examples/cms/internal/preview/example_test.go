package preview_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/preview"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "preview")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := site.Open(filepath.Join(dir, "site.db"), site.Small)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r, err := preview.New(preview.Config{Site: s})
	if err != nil {
		log.Fatal(err)
	}
	html, err := r.Page(ctx, "home", "en")
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(html)) {
		if strings.HasPrefix(line, "<h1>") {
			fmt.Print(line)
		}
	}
	// Output: <h1>Welcome to local-site</h1>
}
