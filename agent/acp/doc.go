// Package acp is an agent in an editor: it speaks the Agent Client Protocol over standard input and
// output, so that editors such as Zed can drive any agent of a [live.Hub].
//
//	hub, err := live.New(live.Config{Agent: a})
//	if err != nil {
//		return err
//	}
//	defer hub.Close()
//	return acp.Run(ctx, acp.Config{Hub: func(context.Context, string) (*live.Hub, error) { return hub, nil }})
//
// Nothing else may write to standard output, because that would break the protocol: a program logs
// to standard error or to a file.
//
// # What an editor gets
//
//   - Prompts with text and links to resources. The reply comes while the model writes it, with its
//     reasoning as thoughts. A prompt while a run is in progress is read by that run, and both end
//     with it. If it comes too late to be read, it gets a run of its own. A run that waits for a
//     decision ends, instead.
//   - Calls with their titles (tools.Func). One whose input has a relative path and a text, or paths
//     and a patch, as those of tools/file, is shown as a change of these files. The text that was
//     there before is known of an edit, of a patch, and of a call that was asked about. Any other
//     call that writes is shown with its new text alone.
//   - Requests for permission: each is a pause, with the choices to allow it once, always in one of
//     the scopes that it offers, or to reject it, and with the preview of what the call would
//     change. A question with a choice of answers is such a request, too. Any other question is a
//     message that ends the prompt, and the next prompt is the answer, or if it doesn't fit, ends
//     the run that asks.
//   - The todo list of memory/recall and the plans of agent/plan as plans; the agent's modes.
//   - session/load for sessions that exist. What is open is asked again.
//
// The servers of MCP that the editor names aren't used: they are the host's to configure
// (tools/mcp). Nor are its terminals and its unsaved files.
//
// # Guarantees
//
//   - The end of the editor ends nothing: a run in progress goes on in its hub, and if the process
//     ends, too, in the next one with the same journal. A pause stays open.
//   - Whoever decides first, in the editor, on a page or in a terminal, decides. The request in the
//     editor is withdrawn ($/cancel_request) if it wasn't the editor: at once, or for a call of a
//     subagent when the run next pauses or ends. Requests beside it are withdrawn, too, and come
//     again when the run pauses again.
//   - session/cancel ends the run, and the prompt then ends as cancelled. What was said and done by
//     then stays in the session. A prompt that comes while something is asked ends the run that
//     asks: its calls count as rejected.
//   - A prompt whose run is stopped by a limit, or whose answer is cut off at the model's output
//     limit, ends with the reasons max_turn_requests and max_tokens, after a message that says which
//     limit. If the run fails or the model refuses, the prompt is a JSON-RPC error that says why.
//     The next one goes on from there in all of these cases.
//   - What happens in a session that the editor has open is shown, whoever has begun it.
//
// # Where things are
//
// acp.go has Run, the methods, and what goes on in a session; view.go has what an editor shows and
// is asked.
package acp
