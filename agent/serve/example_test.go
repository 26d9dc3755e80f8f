package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
)

func ExampleNew() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("It is 4 °C in Oslo."))})
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
	chat, err := serve.New(hub, serve.Config{
		Authorize: func(r *http.Request, session string, action serve.Action) (user string, err error) {
			if user = r.Header.Get("X-User"); user == "" {
				return "", serve.ErrSignIn
			}
			return user, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(http.StripPrefix("/agent", chat))
	defer server.Close()

	ask := func(method, path, body string) *http.Response {
		req, _ := http.NewRequest(method, server.URL+"/agent/"+path, bytes.NewReader([]byte(body)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-User", "ann")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		return res
	}
	res := ask("POST", "sessions/send", `{"session": "s-1", "text": "How cold is it in Oslo?"}`)
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	fmt.Println(res.Status)

	res = ask("GET", "events?session=s-1", "")
	defer res.Body.Close()
	events := sse.NewReader(res.Body, 0)
	for {
		ev, err := events.Next()
		if err != nil {
			return
		}
		one, err := agent.UnmarshalEvent(ev.Data)
		if err != nil {
			return
		}
		switch e := one.(type) {
		case agent.Replied:
			fmt.Println(e.Message.Text())
		case agent.RunEnded:
			fmt.Println(e.Status)
			return
		}
	}
	// Output:
	// 202 Accepted
	// It is 4 °C in Oslo.
	// completed
}
