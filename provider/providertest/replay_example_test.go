package providertest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// A server that answers as written. In a test, Replay closes it and reports
// requests too many.
func ExampleNewReplayer() {
	c := providertest.NewCase("greeting", 200, "text/event-stream", "data: {\"text\":\"Hello\"}\n\n")
	server, err := providertest.NewReplayer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	res, err := server.Client().Post(server.URL+"/v1/chat", "application/json", strings.NewReader(`{"say":"hello"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%q %v\n", body, err)
	for _, r := range server.Requests() {
		fmt.Println(r.Method, strings.TrimPrefix(r.URL, server.URL), r.Body)
	}
	// Output:
	// "data: {\"text\":\"Hello\"}\n\n" <nil>
	// POST /v1/chat {"say":"hello"}
}

// The exchanges of a client are written to a file, and served from it later.
func ExampleRecord() {
	live, err := providertest.NewReplayer(providertest.NewCase("live", 200, "application/json",
		`{"text":"Hello, key-of-mine"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer live.Close() // stands for the real service here
	dir, err := os.MkdirTemp("", "recorded")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, "hello.json")
	recorder := providertest.Record(path, live.Client().Transport)
	client := &http.Client{Transport: recorder}
	req, err := http.NewRequest(http.MethodPost, "https://api.example.com/v1/chat/completions",
		strings.NewReader(`{"model":"m"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Authorization", "Bearer key-of-mine")
	res, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	res.Body.Close() // now the exchange is in the file

	c, err := providertest.ReadCase(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.Exchanges[0].Request.URL, c.Exchanges[0].Request.Headers)
	// Output: hello https://api.example.com/v1/chat/completions map[]
}
