package sse_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/stream/sse"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		sse.SetHeader(rw.Header())
		w := sse.NewWriter(rw, sse.WriterConfig{Connection: http.NewResponseController(rw)})
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

// A client goes on where it was when the connection ends.
func ExampleClient() {
	words := []string{"It", "rains."}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next, _ := strconv.Atoi(sse.LastEventID(r))
		if next == len(words) {
			rw.WriteHeader(http.StatusNoContent) // there is no more
			return
		}
		sse.SetHeader(rw.Header())
		_ = sse.NewWriter(rw, sse.WriterConfig{}).Write(sse.Event{ID: strconv.Itoa(next + 1), Data: []byte(words[next]),
			Retry: time.Millisecond})
	}))
	defer server.Close()

	req, err := http.NewRequest(http.MethodGet, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var client sse.Client
	for ev, err := range client.Events(req) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", ev.ID, ev.Data)
	}
	// Output:
	// 1: It
	// 2: rains.
}
