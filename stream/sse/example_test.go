package sse_test

import (
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
