// Package providertest has models for tests, and the tests that every model must pass.
//
// [Script] makes a model that answers exactly as written, step after step, and remembers what it
// was asked:
//
//	model := providertest.Script(
//		providertest.Fail(fault.RateLimited, providertest.RetryAfter(0)),
//		providertest.Call("weather", map[string]any{"city": "Oslo"}),
//		providertest.Say("Cold."),
//	)
//	// … run what is under test with model …
//	model.AssertDone(t)                                       // every step was used
//	model.AssertTools(t, 1, "weather")                        // what the second request offered
//	model.AssertSaw(t, 2, providertest.ToolResult("weather")) // what the third request carried
//
// A [Step] is one reply. Its content comes from [Say], [Call], [Calls], [Think] and the like,
// several of them joined by [Reply]; [Slow], [Stop], [WithUsage], [WithIDs], [Cut], [FailAfter] and
// [HangAfter] change how a step comes and how it ends; [WaitFor] lets it wait for the test. [Fail]
// and [Hang] are calls without an answer.
//
// A script checks itself: a call of a tool that the request doesn't offer, or with an input that
// its schema rejects, fails, unless [Unfit] says that it is meant.
//
// [Func] makes a model of a function, for answers that depend on the question. [TryTools] makes one
// that calls each tool once, with inputs made from the schemas.
//
// [Replay] serves recorded exchanges over HTTP on loopback. [Record] records those of a client of
// one's own, with secrets taken out, so that tests replay real traffic:
//
//	once := providertest.Record("testdata/weather.json", nil)
//	client := &http.Client{Transport: once}
//
//	c, err := providertest.ReadCase("testdata/weather.json") // from then on
//	server := providertest.Replay(t, c)
//	// … run what is under test with server.URL and server.Client() …
//
// [Conformance] is the suite for a [provider.Provider] of one's own. [Offline] and [NoNetwork] keep
// tests from calling real services by mistake.
//
// # Guarantees
//
// All models are safe for concurrent use, deterministic, and leave no goroutine and no timer
// behind. Time passes on timers only, so that testing/synctest makes it free. The package takes a
// [testing.TB] where it asserts, imports no test library, and starts nothing when it is imported,
// so an example program may use it, too.
package providertest
