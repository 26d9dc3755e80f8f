package api_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/api"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An error says what would be right.
func Example() {
	dir, err := os.MkdirTemp("", "api")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := site.Open(filepath.Join(dir, "cms.db"), site.Small)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	a, err := agent.New(agent.Config{Provider: providertest.Script()})
	if err != nil {
		log.Fatal(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close()
	handler, err := api.New(api.Config{Site: s, Hub: hub})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	res, err := http.Post(server.URL+"/v1/teams/dev-team/sites/local-site/environments/main/pages/home/section",
		"application/json",
		strings.NewReader(`{"sectionDefId": "heroo"}`))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", text)
	// Output:
	// {"error":{"code":"NOT_FOUND","message":"there is no section definition \"heroo\"; did you mean \"hero\"? use one of \"cta\", \"feature\", \"hero\", \"text\""},"statusCode":404}
}
