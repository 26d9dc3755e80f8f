package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/observe"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider/providertest"
)

func Example() {
	dir, err := os.MkdirTemp("", "observe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, db := context.Background(), filepath.Join(dir, "content.db")
	o, err := observe.New(observe.Config{Salt: "salt"})
	if err != nil {
		panic(err)
	}
	model, err := assistant.Failover(slog.New(slog.DiscardHandler), o.Calls(), standin.Model())
	if err != nil {
		panic(err)
	}
	s, err := assistant.New(
		assistant.Config{DB: db, Model: model, Images: providertest.Draw(), Sources: standin.Sources(),
			Hooks: []agent.Hooks{o.Hooks()}, Observe: o.Event})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	answer := s.Execute(ctx, assistant.Request{User: "ann", Message: "Show my drafts"})
	spans, err := o.Trace(ctx, s, answer.TraceID)
	if err != nil {
		panic(err)
	}
	for _, span := range spans {
		fmt.Println(span.SpanID, span.OperationName, span.Status)
	}
	// Output:
	// span-001 listDraftArtifacts ok
}
