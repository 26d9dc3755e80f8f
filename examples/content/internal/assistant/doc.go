// Package assistant is a content agent. Every message is a run of one agent in a conversation that
// is kept. Rules in front of the model make the calls for messages that they understand; the model
// answers the others. Steps are a plan that survives its process.
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
//   - Nothing is published, archived or written over before its user has said yes.
//   - A conversation whose process has died goes on, and has the end of its steps once.
//
// # Where things are
//
// services.go puts the parts together. router.go is the provider in front of the model, and mask.go
// keeps addresses away from that: turn.go
// reads the conversation, begin.go
// makes the call for a message, say.go puts its result into words, and approval.go says what is
// asked first. work.go has the tools that run steps, pipeline.go and cancel.go drive and stop them,
// and state.go says where they are. execute.go is the conversation for programs.
package assistant
