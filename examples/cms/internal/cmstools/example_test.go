package cmstools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// The error of a call tells the model how to correct it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cmstools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := site.Open(filepath.Join(dir, "site.db"), site.Small)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	registry, err := tools.NewRegistry(cmstools.All(cmstools.Config{Site: s})...)
	if err != nil {
		log.Fatal(err)
	}
	call := tools.Call{Name: cmstools.CreatePage, Input: json.RawMessage(`{"name":"Home"}`)}
	out := registry.Run(ctx, call, tools.Options{})
	fmt.Println(out.Status)
	fmt.Println(out.Text())
	// Output:
	// failed
	// a page with the address "home" exists: Home (id pg_home); use another slug such as "home-2", or update that page
}
