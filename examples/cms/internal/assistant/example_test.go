package assistant_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
)

func Example() {
	a, err := agent.New(agent.Config{Provider: model.New()})
	if err != nil {
		log.Fatal(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close()
	handler, err := assistant.New(assistant.Config{Hub: hub, Preview: "http://localhost:4000"})
	if err != nil {
		log.Fatal(err)
	}
	page := httptest.NewRecorder()
	handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/assistant/", http.NoBody))
	fmt.Println(page.Code, page.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
