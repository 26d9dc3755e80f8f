package circuit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

var breakers = circuit.NewSet(circuit.Network()) // one breaker per key, shared by all sessions

// get shows how a program uses a breaker without an agent.
func get(ctx context.Context, url string) (*http.Response, error) {
	res, err := circuit.Do(ctx, breakers.Get("network:cms"), func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		if err := fault.FromHTTP(res); err != nil { // net/http returns no error for a 503; for a breaker it is one
			res.Body.Close()
			return nil, err
		}
		return res, nil
	})
	var open *circuit.OpenError
	if errors.As(err, &open) {
		return nil, fmt.Errorf("%s is down, next try in %v: %w", open.Name, open.RetryAfter, err)
	}
	return res, err
}

// A service that answers 503 is left alone after three calls.
func Example() {
	defer breakers.Get("network:cms").Reset()
	defer http.DefaultClient.CloseIdleConnections()
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer service.Close()

	for range 5 {
		_, err := get(context.Background(), service.URL)
		var open *circuit.OpenError
		if errors.As(err, &open) {
			fmt.Printf("%s is down, next try in %v\n", open.Name, open.RetryAfter.Round(10*time.Second))
			continue
		}
		fmt.Println(fault.Of(err))
	}
	fmt.Println("the service was asked", asked, "times")
	// Output:
	// degraded
	// degraded
	// degraded
	// network:cms is down, next try in 30s
	// network:cms is down, next try in 30s
	// the service was asked 3 times
}
