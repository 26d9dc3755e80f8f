// Package wire holds the tests that every adapter passes: recorded exchanges with providers, served over HTTP on loopback,
// and what a right decoder makes of them; and, for tests of their own, a transport without a network ([Offline]).
//
// The recordings aren't part of this repository. [Cases] reads them from the folder that the environment variable
// PAWL_WIRE names, and skips the test, saying so, where it names none. An adapter's own, hand-written exchanges go to
// [Conformance], [EveryCut] and [Hanging], which need no recordings.
//
// An adapter's test, to be run with `go test ./provider/... -run Wire`:
//
//	func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
//		m, err := anthropic.New(anthropic.Config{Model: c.Model, APIKey: "test-key", BaseURL: baseURL, HTTPClient: client})
//		require.NoError(t, err)
//		return m
//	}
//
//	func TestWire(t *testing.T) {
//		wire.Run(t, wire.Config{Providers: []string{"anthropic"}, New: newModel, Argued: map[string]string{
//			"name-of-a-case": "why it can't be right",
//		}})
//	}
//
//	func TestWireRequests(t *testing.T) { wire.Loops(t, wire.Config{Providers: []string{"anthropic"}, New: newModel}) }
//
//	func TestConformance(t *testing.T) { wire.Conformance(t, newModel, exchange("hello.sse")) }
//	func TestEveryCut(t *testing.T)    { wire.EveryCut(t, newModel, exchange("hello.sse"), wire.Past("event: message_stop")) }
//	func TestHanging(t *testing.T)     { wire.Hanging(t, newModel, exchange("hello.sse")) }
//
//	func exchange(file string) *wire.Case { return wire.File("anthropic-messages", "testdata/"+file) } // an answer of status 200
//
// An adapter must bring all of its requests to the base URL that it is given, through the client that it is given. It gets
// the base URL without a path: what the provider's own has ("/v1") is the test's to append. What is served doesn't depend
// on the request: an adapter that asked for a stream may get one JSON object, as from servers that know no streams.
//
// # What is compared
//
// With the expectation of each exchange: text, reasoning, refusal, tool calls (id, name, arguments, in order), calls that
// the provider ran, how the answer ended, usage ([Usage] has what each format's figures mean), and of errors the class
// ([Class]), status, code, message, request id and advice to wait. A call's free-form input, which is no JSON, is expected
// as a JSON string or as [provider.ToolCall.Invalid]. In the usage of an error and of a cut stream nothing is expected,
// since such an answer has no End. Then the same with every body split into single bytes, and at random: the content must
// be the same. An exchange costs one request.
package wire
