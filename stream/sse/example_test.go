package sse_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pawlkit/pawl/stream/sse"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		sse.SetHeader(rw.Header())
		w := sse.NewWriter(rw)
		defer w.Heartbeat(15 * time.Second)()
		for i, text := range []string{"It rains.", "It\nstops."} {
			if w.Write(sse.Event{ID: fmt.Sprint(i + 1), Type: "weather", Data: []byte(text)}) != nil {
				return // the reader has gone
			}
		}
	}))
	defer server.Close()

	res, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	events := sse.NewReader(res.Body, 64<<10)
	for {
		ev, err := events.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s: %q\n", ev.ID, ev.Type, ev.Data)
	}
	// Output:
	// 1 weather: "It rains."
	// 2 weather: "It\nstops."
	// EOF
}

// The server dies in the middle of its second event.
func ExampleConnect() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sse.SetHeader(w.Header())
		switch sse.LastEventID(r) {
		case "":
			fmt.Fprint(w, "id: 1\ndata: It rains.\n\nid: 2\ndata: It st")
		case "1":
			fmt.Fprint(w, "id: 2\ndata: It stops.\n\n")
		default:
			w.WriteHeader(http.StatusNoContent) // there is no more
		}
	}))
	defer server.Close()

	ctx := context.Background()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range sse.Connect(ctx, server.Client(), req, sse.Config{MinWait: time.Millisecond}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", ev.ID, ev.Data)
	}
	fmt.Println("over")
	// Output:
	// 1: It rains.
	// 2: It stops.
	// over
}
