package board_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/team/internal/board"
	"github.com/pawlkit/pawl/provider/providertest"
)

func ExampleNew() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Hello."))})
	if err != nil {
		fmt.Println(err)
		return
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hub.Close()
	plans, err := plan.New(plan.Config{Agent: a})
	if err != nil {
		fmt.Println(err)
		return
	}
	pages, err := board.New(board.Config{Hub: hub, Plans: plans, Feed: board.NewFeed()})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(pages)
	defer server.Close()
	res, err := server.Client().Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode == http.StatusOK, res.Header.Get("Content-Type"))
	// Output: true text/html; charset=utf-8
}
