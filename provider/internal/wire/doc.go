// Package wire has the tests that every adapter must pass: exchanges with providers, which are
// answered without a network ([Offline]) and, where connections matter, over loopback, and golden
// files of what they are decoded to.
//
// There are two kinds of exchanges. An adapter's own ones are hand-written and part of this
// repository: in testdata/quirks there is one for each [Quirk], and beside it a golden file with
// the decoded answer or error, and with the request that sends the answer back. The recordings
// belong to other projects and aren't part of this repository: [Cases] reads them from the folder
// in the environment variable PAWL_WIRE, and skips the test if it isn't set. Their golden file,
// testdata/recordings.txt, has a line for each exchange with counts and hashes, and nothing of
// their text.
//
// An adapter's tests:
//
//	func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
//		m, err := anthropic.New(anthropic.Config{Model: c.Model, APIKey: "test-key", BaseURL: baseURL,
//			HTTPClient: client})
//		require.NoError(t, err)
//		return m
//	}
//
//	var quirks = map[string][]wire.Quirk{"anthropic-messages": {{Name: "ping", File: "ping.sse", Status: 200}}}
//
//	func TestQuirks(t *testing.T) { wire.Quirks(t, newModel, quirks) }
//	func TestWire(t *testing.T)   { wire.Run(t, wire.Config{Providers: []string{"anthropic"}, New: newModel}) }
//	func TestRandom(t *testing.T) { wire.Random(t, wire.Config{Cases: wire.QuirkCases(t, quirks), New: newModel}) }
//
//	func TestConformance(t *testing.T) { wire.Conformance(t, newModel, exchange("hello.sse")) }
//	func TestHanging(t *testing.T)     { wire.Hanging(t, newModel, exchange("hello.sse")) }
//	func TestEveryCut(t *testing.T) {
//		wire.EveryCut(t, newModel, exchange("hello.sse"), "event: message_stop")
//	}
//
//	func exchange(file string) *wire.Case { // an answer of status 200
//		return wire.File("anthropic-messages", "testdata/"+file)
//	}
//
// An adapter must send all its requests to the base URL that it is given, through the client that
// it is given. The base URL has no path: the test appends that of the provider's own base URL
// ("/v1"). The server's answer doesn't depend on the request: an adapter that requested a stream
// may get one JSON object, as from servers without streams.
//
// After a change that is meant to change what is decoded or sent, write the golden files anew, read
// the difference of those of the quirks, and see by the counts of the recordings' which of them
// changed:
//
//	PAWL_WIRE=… go test ./provider/openai ./provider/anthropic ./provider/gemini -run 'Wire|Quirk' -update
package wire
