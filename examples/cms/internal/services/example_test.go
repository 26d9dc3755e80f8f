package services_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/cms/internal/services"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "services")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sv, err := services.New(services.Config{DB: filepath.Join(dir, "cms.db")})
	if err != nil {
		log.Fatal(err)
	}
	defer sv.Close()
	html, err := sv.Renderer.Page(ctx, "home", "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(html) > 0, sv.PageURL("home", "en"))
	// Output: true http://localhost:4000/pages/home?locale=en
}
