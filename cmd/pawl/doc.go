// Pawl shows operators what is in a journal, and lets them decide, cancel, retry and remove. It
// runs no agent.
//
//	go install github.com/pawlkit/pawl/cmd/pawl
//	export PAWL_JOURNAL=runs.db # or postgres://user@host/database
//	pawl pending
//	pawl approve s-1
//	pawl doctor -agents clerk,editor
//
// It changes only what a command is asked to change, and never migrates, except by "pawl migrate".
// A decision is posted to the session's inbox: whoever runs the agent acts on it.
//
// main.go has the commands, their flags and help.txt; journal.go how a journal is opened, and the
// agent that stands in for those of the sessions; commands.go has what they do, and
// print.go how they print; bulk.go changes many sessions.
package main
