// Chat is a chat page in about sixty lines: an agent with two tools, one of which asks before it
// runs, sessions in SQLite, and the page of package serve.
//
//	go run ./examples/chat
//
// It prints which model answers, and the address. The model is the one that the environment names:
// see package provider/fromenv. Without one, or with -model standin, a stand-in answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080",
		"where to listen; keep it on this machine, because nobody has to sign in")
	db := flag.String("db", "chat.db", "the file for the sessions")
	choice := flag.String("model", "", "what PAWL_MODEL is otherwise: standin, or a provider of the environment")
	flag.Parse()
	model, about, err := chooseModel(*choice)
	if err != nil {
		log.Fatal(agent.Words(err))
	}
	fmt.Println("The model is", about)
	if err := run(context.Background(), *addr, *db, model, about, func(url string) { fmt.Println(url) }); err != nil {
		log.Fatal(agent.Words(err))
	}
}

// run serves until ctx ends or a signal comes. ready is called with the address of the page.
func run(ctx context.Context, addr, db string, model provider.Provider, about string,
	ready func(url string)) (err error) {
	store, err := sqlite.Open(db, sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
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
		Title: "Orders · " + about, Examples: []string{"Where is order 1001?", "Cancel order 1002."},
		Authorize: serve.Local{User: "you"}.Authorize, // the only user of this machine
	})
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	ready("http://" + listener.Addr().String() + "/")
	return live.Serve(ctx, hub, &http.Server{Handler: chat, ReadHeaderTimeout: 10 * time.Second}, listener)
}
