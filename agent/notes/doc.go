// Package notes has what an agent writes down about long work, and reads again.
//
//   - [Progress] has notes written while a conversation fills the model's window. They are kept in
//     the session's log, and [Read] returns them.
//   - [ContextReset] continues the work in a new run with a new conversation, which begins with a
//     note ([ResetNote]) about what was done and what remains.
//   - [Briefing] tells a new attempt what earlier ones came to.
//
// The first two are configured in the Memory of an agent. A function of the host writes the notes,
// from an [Input]; [ByModel] returns one that asks a model:
//
//	type Finding struct {
//		Pages []string `json:"pages" jsonschema:"what was read"`
//		Open  []string `json:"open" jsonschema:"questions that remain"`
//	}
//
//	a, err := agent.New(agent.Config{
//		Provider: model,
//		Memory: &agent.Memory{
//			ProgressNotes: []notes.Progress{notes.ProgressOf("finding", notes.ByModel[Finding](nil, ""))},
//			ContextReset:  &notes.ContextReset{},
//		},
//	})
//	…
//	facts, err := a.Session("s-1").Facts(ctx)
//	findings, err := notes.Read[Finding](facts, "finding")
package notes
