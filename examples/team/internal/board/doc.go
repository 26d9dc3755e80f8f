// Package board has the pages of the example: the conversation, and beside it the board, which
// shows the plan at work, what waits for a decision, and what came out.
//
// The conversation is the page of package agent/serve, in an element of this one. The board is read
// from GET /board?session= as server-sent events: the first has all parts of it, and each later one
// those that have changed, at most ten times a second. What is decided at the board goes to POST
// /board/decide, also while other steps are at work; /board/undo and /board/revoke do what they
// say.
//
// # Guarantees
//
//   - A page shows the same, whether it has read all events, connects again, or comes late. A slow
//     reader gets the newest state, never a queue.
//   - Each decision is shown and taken in one place, and names the pause that it is about: that on
//     an old version of a plan is refused.
//   - Texts of models, tools and people are inserted as text. Nothing is loaded from elsewhere.
//   - It answers only this computer: see serve.Local.
//
// # Where things are
//
// board.go has the configuration, feed.go what workers do at the moment, talk.go what a
// conversation says about plans, viewer.go the parts of the board, and server.go the paths. In web,
// main.js puts the page together, model.js has what the parts mean, board.js, step.js, decision.js
// and outcome.js show them, and words.js has all words.
package board
