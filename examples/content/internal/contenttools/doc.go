// Package contenttools has the tools of a content agent: topics and research, the outline, the
// text, its revision and its images, and four that only read. All answer in one [Envelope], and
// check the owner, the status, lengths and values themselves.
//
//	list, err := contenttools.All(contenttools.Config{Store: s, Sources: sources, Images: images})
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{
//		Provider: model, Tools: list,
//		StopWhen: []stop.Condition{stop.AfterTool(contenttools.StructuredResponse)},
//	})
//
// The user of a call is that of its run (agent.Input.User). The run's label "trace" is the trace id
// of the answers.
//
// # Guarantees
//
//   - A tool that fails leaves the artifact as it was. Sections that the writer has finished are
//     kept beside it, and aren't written again.
//   - A call that is repeated with its idempotency key, after a crash for example, has no second
//     effect, and gets the same answer.
//   - One tool at a time writes an artifact. The tools of a pipeline share its lock.
//   - A tool that writes can be undone, also after it failed.
package contenttools
