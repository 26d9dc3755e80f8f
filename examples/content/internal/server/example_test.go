package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/server"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider/providertest"
)

func Example() {
	dir, err := os.MkdirTemp("", "content")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, limits := context.Background(), server.NewLimits(nil)
	model, err := limits.Model(standin.Model())
	if err != nil {
		panic(err)
	}
	s, err := assistant.New(assistant.Config{DB: filepath.Join(dir, "content.db"), Model: model,
		Images: providertest.Draw(), Sources: standin.Sources(), Admit: limits.Admit})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	h, err := server.New(ctx, server.Config{Services: s, Limits: limits})
	if err != nil {
		panic(err)
	}
	defer h.Close()
	site := httptest.NewServer(h)
	defer site.Close()
	res, err := http.Get(site.URL + "/api/me")
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	// Output:
	// 401 Unauthorized
}
