// Package board has the pages of the example: the conversation, and beside it the board, which
// shows the plan at work, what waits for a decision, and what came out.
package board
