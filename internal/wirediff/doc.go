// Package wirediff compares what the adapters of package provider read with what the makers' own
// clients read: openai-go with its accumulator for Chat Completions, and with its events for
// Responses; anthropic-sdk-go with its accumulator; and genai. It is a module of its own because
// those need many others.
//
// A stream is a seed with mutations. The seeds are the answers of package wirecases, and the
// recorded streams in the folder that the environment variable PAWL_WIRE names. Every other stream
// keeps what its seed means: it has other line ends, comments, pings, blanks, escapes, an order of
// members, unknown members, members that are null, 1.0 for 1, or its text in other pieces. Our
// reading of it must be that of the seed. The others are damaged: an event is missing, comes twice,
// in another place, cut or changed; an error comes in between; the body ends early. Both clients
// read the same bytes, and their readings must be the same, but for the disagreements that
// classes_test.go names with the reason why ours is right. Any other one fails the test.
//
//	go test -streams 100000 -v         # for each API; prints how many disagreements a class has
//	go test -classes                   # fails if a class has none
//	go test -seed 7                    # other streams
//	go test -only gemini-floats.txt:17   # one stream, as a failure names it
//
// The streams of a seed don't depend on the other seeds. A disagreement that is our mistake becomes
// a file in internal/wirecases.
package wirediff
