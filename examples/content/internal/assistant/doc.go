// Package assistant is a content agent: it finds out what a message wants, runs the tools for it as
// a plan that survives its process, and answers in one form. Requests that change nothing are turns
// of a model.
//
//	s, err := assistant.New(assistant.Config{
//		DB: "content.db", Model: standin.Model(), Images: providertest.Draw(), Sources: standin.Sources(),
//	})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	if err := s.Recover(ctx); err != nil { // pipelines of a process that has died
//		return err
//	}
//	answer := s.Execute(ctx, assistant.Request{
//		User: "ann", Message: "Create content for artifact " + id + ": Remote work",
//	})
//
// # Guarantees
//
//   - The order of a pipeline's tools is fixed, whatever a model says. What has ended isn't done
//     again: not after a crash, and not when the user tries again.
//   - A tool that fails leaves the artifact as it was before that tool. What earlier tools did
//     stays.
//   - A message acts on artifacts of its user only.
package assistant
