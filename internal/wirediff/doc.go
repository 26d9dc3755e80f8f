// Package wirediff compares what the adapters of package provider read with what the makers' own
// clients read: openai-go with its accumulator for Chat Completions, and with its events for
// Responses; anthropic-sdk-go with its accumulator; and genai. It is a module of its own because
// those need many others.
//
// A stream is a seed with mutations. The seeds are the answers of package wirecases, a plain one
// for each API, and the recorded streams in the folder that the environment variable PAWL_WIRE
// names. Every other stream keeps what its seed means: it has other line ends, comments, pings,
// blanks, escapes, an order of members, unknown members, members that are null, 1.0 for 1, or its
// text in other pieces. Our reading of it must be that of the seed. The others are damaged: an
// event is missing, comes twice, in another place, cut or changed; an error comes in between; the
// body ends early. Both clients read the same bytes, and their readings must be the same, but for
// the disagreements that classes_test.go names with the reason why ours is right. Any other one
// fails the test.
//
//	go test -streams 100000 -v            # for each API; prints how many disagreements a class has
//	go test -classes                      # fails if a class has none
//	go test -seed 7                       # other streams
//	go test -v -only gemini-floats.txt:17 # one stream, as a failure names it
//
// With openai-go 3.99.0, anthropic-sdk-go 1.84.0 and genai 1.77.0, 100,000 streams for each API,
// half of them damaged, have these disagreements. From "[DONE]" on, nearly all are of damaged
// streams.
//
//	 Chat  Responses  Claude  Gemini
//	14614      16691    8081    1738  the case's own
//	 2170        867    1846    5483  a byte order mark
//	 4199       4045    4150    4109  lines that end with CR
//	    0          0    4026       0  events without names
//	    0          0       0   15947  comments, fields, several lines
//	 1914       2373    2773     305  no empty line at the end
//	    0          0       0     107  a line without a known name
//	 3629       3780       0      19  error: null
//	    0          0    1530       0  a compaction's tokens
//	    0          0       0    1586  arguments in pieces
//	    0       1792       0       0  what waits for the client
//	 2243          0       0       0  [DONE] without a reason
//	  385          3       0       0  data without an object
//	  829          0      95       0  a reason, and null later
//	    0         12       0       0  a cut answer
//	  519          0       0       0  chunks with another id
//	  410          0       0       0  usage that comes twice
//	  249          0       0       0  a name that comes twice
//	    6          0       0       0  a call that comes twice
//	   26          0       0       0  a call without its beginning
//	   32         46     513       0  arguments that aren't an object
//	   17         12       0       0  calls in another order
//	    0         86       0       0  text in another order
//	    0          6       0       0  blanks at the ends of a text
//	    0          0    2013       0  a block without its start
//	    0          0     737       0  numbers of blocks
//	    0          0      64       0  a late start
//	    0          0       2       0  an event without a type
//	    0          0       0     908  a field of another type
//	    0          0       0      25  a part that is null
//	   84        284     711     172  members that are missing or of another type
//	    0          0       0     323  figures that are missing
//	 1556       3236    1999     632  refused
//
// What differs in a case without a mutation is in testdata/own.txt. A wide class that explains more
// of the damaged streams than usual fails the test, too.
//
// The streams of a seed don't depend on the other seeds. A disagreement that is our mistake becomes
// a file in internal/wirecases.
package wirediff
