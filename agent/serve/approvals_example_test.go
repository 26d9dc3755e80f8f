package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run waits for somebody. A handler shows what it waits for and takes the decision, and Recover
// resumes the run.
func ExampleApprovals() {
	store := &journal.MapStore{} // one on disk for real
	cms, err := agent.New(agent.Config{
		Name: "cms", Journal: store,
		Provider: providertest.Script(providertest.Call("cms.deletePage", Doc{ID: "home"}),
			providertest.Say("It is gone.")),
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "cms.deletePage", Description: "Deletes a page for good.", Risk: tools.High},
				func(_ context.Context, in Doc) (string, error) { return in.ID + " is deleted", nil })},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := cms.Run(ctx, agent.Input{Session: "acme/s-1", Prompt: "Delete the home page."})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}

	decided := make(chan struct{}, 1)
	h, err := serve.Approvals(serve.ApprovalsConfig{
		Store: store, Agents: map[string]*agent.Agent{"cms": cms},
		Logger: slog.New(slog.DiscardHandler),
		OnDecided: func(context.Context, serve.Decided) {
			select {
			case decided <- struct{}{}:
			default: // the next Recover sees this decision, too
			}
		},
		Authorize: func(r *http.Request, item serve.Item, act serve.Action) (string, error) {
			user, _, ok := r.BasicAuth() // whoever is behind the middleware that checks it
			if !ok || !strings.HasPrefix(item.Session, "acme/") {
				return "", errors.New("not theirs")
			}
			return user, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// The host resumes what can be resumed: when it starts, and after each decision.
	ended := make(chan agent.Recovered, 1)
	resume := func() {
		if _, err := cms.Recover(ctx, agent.Recovery{Each: func(r agent.Recovered) { ended <- r }}); err != nil {
			log.Print(err)
		}
	}
	resume()
	var host sync.WaitGroup
	host.Go(func() {
		for range decided {
			resume()
		}
	})

	ask := func(user, method, target, body string) {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.SetBasicAuth(user, "")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var a struct{ Decision, By, Code string } // a problem has a code
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			log.Fatal(err)
		}
		fmt.Println(w.Code, strings.TrimSpace(a.Code+" "+a.Decision+" "+a.By))
	}
	decision := func(what string) string {
		return fmt.Sprintf(`{"session":"acme/s-1","id":%q,"decision":%q}`, res.Pending[0].ID, what)
	}
	for o, err := range approvals.List(ctx, store, approvals.Filter{Prefix: "acme/"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(o.Session, o.Kind, o.Tool, "because", o.Reason)
	}
	ask("ann", "POST", "/decide", decision("always"))
	ask("ann", "POST", "/decide", decision("approve"))
	end := <-ended
	fmt.Println(end.Session, end.Result.Status, end.Result.Text())
	ask("bob", "POST", "/decide", decision("reject"))
	close(decided)
	host.Wait()
	// Output:
	// acme/s-1 approval cms.deletePage because this tool is of high risk
	// 422 bad
	// 200 approve ann
	// acme/s-1 completed It is gone.
	// 409 used
}
