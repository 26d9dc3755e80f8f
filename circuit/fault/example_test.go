package fault_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()

	res, err := server.Client().Get(server.URL + "/v1/pages?key=secret")
	if err == nil {
		defer res.Body.Close()
		err = fault.FromHTTP(res)
	}

	class := fault.Of(err)
	wait, told := fault.RetryAfter(err)
	fmt.Println(class, fault.Retryable(class), class.Counts())
	fmt.Println(wait, told)
	// Output:
	// rate_limited true false
	// 2s true
}

func ExampleNewFixable() {
	err := fmt.Errorf("start: %w", fault.NewFixable("there is no API key", "set PAWL_API_KEY", nil))

	remedy, _ := fault.Remedy(err)
	fmt.Println(err)
	fmt.Println(fault.Of(err))
	fmt.Println(remedy)
	// Output:
	// start: there is no API key (remedy: set PAWL_API_KEY)
	// user_fixable
	// set PAWL_API_KEY
}

func ExampleWrap() {
	err := fault.Wrap(fault.NotFound, fault.FromHTTP(&http.Response{StatusCode: http.StatusNotFound}))

	fmt.Println(fault.Of(err), err)
	// Output: not_found fault: status 404 Not Found
}

func ExampleRetries() {
	all, err := fault.Retries(
		map[fault.Class]fault.Retry{fault.Degraded: {Attempts: 5, Exact: true}},
		map[fault.Class]fault.Retry{
			fault.Transient: {Attempts: 3, Min: 100 * time.Millisecond, Max: time.Second},
			fault.Degraded:  {Attempts: 2, Min: time.Second, Max: 5 * time.Second},
		})
	if err != nil {
		log.Fatal(err)
	}
	policy := all[fault.Degraded]
	for failures := 1; failures < policy.Attempts; failures++ {
		fmt.Print(policy.Delay(failures), " ")
	}
	// Output: 1s 2s 4s 5s
}
