// Chat is a chat page in about sixty lines: an agent with two tools, one of which asks before it
// runs, sessions in SQLite, and the page of package serve.
//
//	go run ./examples/chat
//
// It prints the address. With ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY set, it calls
// that provider; otherwise a built-in model answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080",
		"where to listen; keep it on this machine, because nobody has to sign in")
	db := flag.String("db", "chat.db", "the file for the sessions")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *db, func(url string) { fmt.Println(url) }); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends. ready is called with the address of the page.
func run(ctx context.Context, addr, db string, ready func(url string)) (err error) {
	store, err := sqlite.Open(db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	model, err := chooseModel()
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Config{Name: "chat", Provider: model, Instructions: instructions, Journal: store,
		Tools: shop()})
	if err != nil {
		return err
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		return err
	}
	chat, err := serve.New(hub, serve.Config{
		Title: "Orders", Examples: []string{"Where is order 1001?", "Cancel order 1002."},
		// the only user of this machine
		Authorize: func(*http.Request, string, serve.Action) (string, error) { return "you", nil },
	})
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	server := &http.Server{Handler: chat, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = hub.Close(); _ = server.Shutdown(context.Background()) })()
	ready("http://" + listener.Addr().String() + "/")
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, hub.Close())
	}
	return hub.Close() // waits for the other Close
}
