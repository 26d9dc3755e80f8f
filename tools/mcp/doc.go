// Package mcp gives agents the tools of MCP servers, over standard input and output or over HTTP. A
// [Server] is a tools.Source:
//
//	files, err := mcp.New(mcp.Config{
//		Name:    "files", // its tools are files.read_file, files.list_directory …
//		Command: []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", dir},
//		Only:    []string{"read_file", "list_directory"},
//	})
//	…
//	defer files.Close()
//	a, err := agent.New(agent.Config{Provider: p, Sources: []tools.Source{files}})
//
// # Connections
//
// A connection is opened when it is needed, one for each credential (Config.Credential), and closed
// when nobody uses it. After a loss it is opened again with the next use: one attempt for all who
// wait, within Config.Connect, and not again for 1 to 30 s after a failure. What belongs to a
// credential is forgotten 10 minutes after its last use, and earlier if there are more than 1,000.
// Both versions of the protocol are spoken: 2026-07-28, and 2025-11-25 as it was before.
//
// # Errors
//
// An error belongs to the request that has it: the connection and other calls aren't touched, and
// nothing waits for them. A status of 400 to 499, but for 408, shows that the server hasn't run the
// call; 429 says when to try again; 404 to a session, that the server doesn't know it any more, so
// the call is made again with another one. After any other status, or a reply that is cut, the call
// might have run: it is made again only if its tool is read-only or idempotent; otherwise it ends
// as in doubt (tools.DoubtError). Each tool has a breaker. The server's own opens for 10 s after 5
// failures in a row that are the server's: a connection that is refused, a status of 500 or above,
// a ping without an answer, which follows a call that took too long.
//
// # Tools
//
// Names are Server.tool, and a name that is too long or has other characters gets a hash. Each
// schema is checked alone: a tool with a bad one, or one that can only be called as a task, is left
// out and reported to Config.OnChange. So is a tool with which the descriptions and schemas of the
// server have more than 4 MiB. Of other schemas only a part is left out, with a note for OnChange,
// and the server checks it: patterns that package regexp can't compile, and allOf, anyOf and oneOf
// at the root, which providers refuse. A list ends at 1,000 pages, and at a cursor that came before
// or has more than 4 KiB; what was listed until then is used. A server that lists more than 100,000
// tools has none. A change of the list takes effect in the next run. A standing approval is for the
// schema and the description that somebody has seen: after a change it asks again.
//
// Lines of a program's standard output that aren't messages are skipped, and logged once.
//
// # Trust
//
// What annotations say counts only with Config.Trusted. Otherwise all tools are of medium risk and
// change something. Results and errors are marked as data (tools.Untrusted), text from outside for
// policies (tools.Spec.Outside, which Config.Adjust may set to false), bounded, and results are
// checked against the schema that the server promises for them. A description, an error and a
// question have at most 8 KiB. Redirects to other hosts are refused.
//
// # Questions
//
// A question of the server (elicitation) suspends the call: it is a pause of the session, and may
// be answered days later, after a restart of both sides. With the older protocol, whose servers
// wait for the answer within the call, the server is told that the question was dismissed, and the
// call is made again with the answer. This works while one call of the connection is under way.
// What such a server does before it asks happens twice, unless it notices that the idempotency key
// of both calls, "pawl/key" in their metadata, is the same. A server that needs somebody to sign
// in, also within a call: see [SignIn].
package mcp
