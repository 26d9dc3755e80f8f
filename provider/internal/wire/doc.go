// Package wire has the tests that every adapter must pass: recorded exchanges with providers, served over HTTP on loopback,
// and the expected results of decoding them. For other tests, it has a transport without a network ([Offline]).
//
// The recordings aren't part of this repository. [Cases] reads them from the folder in the environment variable
// PAWL_WIRE, and skips the test if it isn't set. An adapter's own, hand-written exchanges are tested with
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
// An adapter must send all its requests to the base URL that it is given, through the client that it is given. The base URL has
// no path: the test appends that of the provider's own base URL ("/v1"). The server's answer doesn't depend
// on the request: an adapter that requested a stream may get one JSON object, as from servers without streams.
//
// # What is compared
//
// For each exchange: text, reasoning, refusal, tool calls (id, name, arguments, in order), calls that
// the provider ran, the stop reason, usage ([Usage] says what each format's figures mean), and for errors the class
// ([Class]), status, code, message, request id and advice to wait. A call's free-form input, which isn't JSON, is expected
// as a JSON string or as [provider.ToolCall.Invalid]. The usage of an error and of a cut stream isn't compared,
// since such an answer has no End. Then the same is repeated with every body split into single bytes, and split at random: the content must
// be the same. An exchange takes one request.
package wire
