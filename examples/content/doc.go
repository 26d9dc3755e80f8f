// The program content creates illustrated articles from ideas. It needs no API key: without one, a
// table of texts stands in for the language model, the sources of research are made up and say so,
// and images are labeled drawings. It says so when it starts, and on its pages. With a key and a
// model in the environment, such as ANTHROPIC_API_KEY and ANTHROPIC_MODEL, it asks that provider
// for texts: see package provider/fromenv. With several, the next one is asked when one fails.
// ANTHROPIC_QUICK_MODEL names a model for calls that a small one makes well, such as sections and
// intents; the others have such variables, too. PAWL_MODEL=standin, or -model standin, stays with
// the stand-in. TAVILY_API_KEY or SEARXNG_URL names a search service (see web.From in tools/web);
// with a real model and without one nothing is searched, and the research says so.
// OPENAI_IMAGE_MODEL or GEMINI_IMAGE_MODEL names a model that makes pictures.
//
//	go run ./examples/content
//	go run ./examples/content -p "Create content for a blog about remote work"
//	go run ./examples/content -p "Give me topic ideas for LinkedIn"
//	go run ./examples/content -artifact ID -p "Try again"
//	go run ./examples/content -chat
//
// The first serves the API and the pages at -addr, with three seeded users to log in as. The
// variables JWT_SECRET and USER_HASH_SALT sign logins and hide the ids of users in logs; without
// the first one, logins end with the process. With METRICS_TOKEN set, a Prometheus that sends it as
// its bearer token may read /metrics. LOG_LEVEL is debug, info, warn or error. SIGTERM ends the
// program when runs have come to a safe point; the next start continues them.
//
// "Create content for X" makes a draft with the title X, and runs the whole pipeline: research,
// outline, text, revision and images. Other messages are about the artifact of -artifact, or that
// of the conversation, which is the one that the pages show. What -p asks is decided by the next
// one: -p Yes. With -chat the program talks in the terminal. Artifacts and runs are in content.db
// in the working directory (see -db). If the program was killed in the middle of a pipeline, the
// next start continues it.
//
// FAIL_MODEL makes the stand-in model fail: with writer:3 its third section fails once, and with
// provider every message is first sent to a provider that is down. The variables MOCK_ALL_AI_TOOLS
// and the like replace outside calls by canned answers: see [contenttools.Mocks].
//
// The exit status is 0 if the request was done, 1 if it failed, and 2 for invalid arguments.
//
// [contenttools.Mocks]:
// https://pkg.go.dev/github.com/pawlkit/pawl/examples/content/internal/contenttools#Mocks
package main
