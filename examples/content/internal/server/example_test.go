package server_test

import (
	"context"
	"fmt"
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
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost/api/users", nil)
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output:
	// 200 {"model":"","users":[{"id":"ann","email":"ann@example.com","name":"Ann Carter","plan":"pro"},{"id":"ben","email":"ben@example.com","name":"Ben Okafor","plan":"free"},{"id":"eva","email":"eva@example.com","name":"Eva Lindqvist","plan":"enterprise"}]}
}
