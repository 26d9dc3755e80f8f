// Package terminal is a conversation with an agent in a terminal, line by line: streamed answers,
// calls and plans, a line to write in, and approvals with a letter and Enter.
//
//	hub, err := live.New(live.Config{Agent: a})
//	if err != nil {
//		return 1, err
//	}
//	defer hub.Close()
//	return terminal.Run(ctx, hub, terminal.Config{Session: "s-1"})
//
// [Run] returns an exit code for the program: 0 after the person has quit, or when a Config.Prompt
// is done; 3 if the session waits for a decision; 1 with the error otherwise.
//
// # What a person can do
//
//   - Write a request, edit it with the arrow keys, and get earlier ones back with the up arrow.
//     Alt-Enter and Ctrl-J begin a new line of it. A paste is sent whole, with its lines and tabs.
//     Keys move over and delete what people see as one character, such as a flag. A window that is
//     narrow, or that changes, wraps what is written.
//   - Write while a run is in progress: the message steers the run. Esc stops the run, and what is
//     written stays on its line. Ctrl-C stops it, too; another one within 2 s ends Run and leaves the
//     run to the next process.
//   - Read answers whose words aren't broken by the edge of the window. Blocks of code are as they
//     came.
//   - Decide, with a letter or a word alone on its line, and Enter: a approves, r rejects with an
//     optional reason, s suggests something else, e edits the input in the editor of VISUAL or
//     EDITOR, A approves from now on, as far as the person chooses, and ? explains the letters. The
//     arrows bring the choices to the line; Enter on an empty line decides nothing. Choices of a
//     question are numbered. A change is shown as a diff; of a long one, and of its input, d shows
//     the rest.
//   - Say something else instead: it is shown back, and a second Enter sends it and rejects the
//     call; Esc leaves the question. A line that was pasted, or begun before the question was drawn,
//     is never a choice. A question that comes while a line is written is shown above it at once.
//   - Read above each prompt and question, and while a run is in progress, how the session stands:
//     its mode, the model, the cost, and how much of the model's window the last request and its
//     reply took. A narrow window has less of it.
//   - Type /help, /sessions, /undo, /mode, /quit, and the host's own commands; at a question,
//     too. /sessions lists the last sessions, and opens, renames, archives, copies, deletes or finds
//     them by their numbers. /undo says what it would undo, and asks.
//
// A session that waits for a decision asks it at the start, unless another program has recorded
// one. A run whose process has died goes on, after at most the agent's lease; an agent.Config.Lease
// of 4 s suits a terminal. What a page begins in the session is shown and asked about at once,
// unless a line has been begun.
//
// # Guarantees
//
//   - What models, tools and other people write can't control the terminal: escape sequences and
//     characters that nobody sees are left out.
//   - When Run returns, for whatever reason, the terminal is as it was, and nothing of it is
//     running; see Config.In for the exception.
//   - Without a terminal, there are no control sequences in the output, lines are read instead of
//     keys, and the end of the input at a question ends Run with 3. With NO_COLOR set, there are no
//     colors.
//   - Nobody is asked about a Config.Prompt.
//
// # Where things are
//
// terminal.go has Run and the order of things; talk.go starts, follows and steers runs; wait.go is
// where everything waits, for keys and events alike; keyboard.go reads keys, and editor.go is the
// line that they write. decide.go and answer.go get decisions, and choose.go knows what a line at a
// question means; commands.go and sessions.go have the commands, state.go the state line. show.go
// prints events and pauses; screen.go knows what is on the screen, area.go draws what stands below
// its last line, and wrap.go breaks the lines of answers.
package terminal
