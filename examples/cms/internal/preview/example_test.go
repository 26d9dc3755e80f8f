package preview_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/preview"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func Example() {
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
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "<h1>") {
			fmt.Print(line)
		}
	}
	// Output: <h1>Welcome to local-site</h1>
}
