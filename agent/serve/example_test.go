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

// A chat page for an agent. The routes serve stock useChat and AG-UI clients, and your own page:
// …/chat for useChat, …/agui, …/events, …/sessions, …/ for the page.
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
		// Nothing is served without Authorize. It says who is asking, and whether they may do this.
		// A session belongs to whoever used it first.
		Authorize: func(r *http.Request, session string, action serve.Action) (user string, err error) {
			if user = r.Header.Get("X-User"); user == "" {
				return "", serve.ErrSignIn
			}
			return user, nil
		},
		Input: func(r *http.Request, in *agent.Input) error { // sets what the server decides, never the client
			in.Labels = map[string]string{"plan": "free"}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(http.StripPrefix("/agent", chat))
	defer server.Close()

	ask := func(who, method, path, body string) *http.Response {
		req, _ := http.NewRequest(method, server.URL+"/agent/"+path, bytes.NewReader([]byte(body)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-User", who)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		return res
	}
	res := ask("", "GET", "sessions", "")
	res.Body.Close()
	fmt.Println(res.Status)
	res = ask("ann", "GET", "", "")
	res.Body.Close()
	fmt.Println(res.Status, res.Header.Get("Content-Type"))
	res = ask("ann", "POST", "sessions/send", `{"session": "s-1", "text": "How cold is it in Oslo?"}`)
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	fmt.Println(res.Status)

	res = ask("bob", "GET", "events?session=s-1", "") // it is ann's
	res.Body.Close()
	fmt.Println(res.Status)
	res = ask("ann", "GET", "events?session=s-1", "")
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
		case *agent.RunStarted:
			fmt.Println(e.User, e.Labels().Map()["plan"])
		case *agent.Replied:
			fmt.Println(e.Message.Text())
		case *agent.RunEnded:
			fmt.Println(e.Status)
			return
		}
	}
	// Output:
	// 401 Unauthorized
	// 200 OK text/html; charset=utf-8
	// 202 Accepted
	// 404 Not Found
	// ann free
	// It is 4 °C in Oslo.
	// completed
}
