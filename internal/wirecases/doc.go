// Package wirecases has answers of model servers that somebody has reported, or that a maker's own
// client reads differently, and what they must become. One test reads all of them with the adapters
// of package provider. A new report is a new file in testdata.
//
// A file has three parts. The first one has the API (chat, responses, claude or gemini) in its
// first line, and says below what is special:
//
//	chat
//	An error without the key "error", after text: the answer mustn't count as one.
//	-- answer --
//	HTTP/1.1 200 OK
//	Content-Type: text/event-stream
//
//	data: …
//	-- want --
//	error permanent 200: insufficient balance
//
// The answer is sent byte for byte. In a header, $RESET is a time in 40 s, in milliseconds since
// 1970. Instead of an answer there may be a request, as JSON of a [provider.Request]. What is
// wanted is a line for each part of the answer, its end, each of its details, and, in lines that
// begin with next, what of the answer goes back to the server with the next request; or the error;
// or the tools as they are sent.
//
// testdata/servers has a file for each server that package openai knows by name, with several
// answers and requests, each followed by what is wanted. Requests are wanted whole there.
//
//	go test ./internal/wirecases -write
//
// writes what the adapters make of each file into it. Read what has changed before you keep it.
//
// [provider.Request]: https://pkg.go.dev/github.com/pawlkit/pawl/provider#Request
package wirecases
