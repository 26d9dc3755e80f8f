// The program cms is an assistant that edits a small website by chat. Without a
// key a script writes in place of a model: it knows some fifteen requests. The environment names a
// model, as package provider/fromenv says.
//
//	go run ./examples/cms
//	go run ./examples/cms -p "Create an About page with a hero titled Hello"
//	go run ./examples/cms chat
//
// The first command serves a page for a browser, the REST API and the preview of the site, and
// prints their addresses. They are addresses of this computer, because nobody has to sign in. The
// second carries out one request in the terminal, and the third asks for requests until /quit.
//
// # One file
//
// The site, the conversations, and what waits for a decision are in one file of SQLite, cms.db (see
// -db); uploaded files are in the folder uploads beside it. Several processes may use the file at a
// time. A session belongs to the process that runs it. After that process has died, a program that
// serves resumes the session within some seconds, and "chat -session" resumes it at once.
//
// Every fact of a run is in the file before it is shown, and each write of a tool is one
// transaction that also records the key of the call. So what a killed process had done isn't done
// again, and what it hadn't done is done by the next one.
//
// # Approvals
//
// Deletions, changes of addresses and changes of structures need approval, and plans do as a whole.
// The page and chat ask at once. With -p nobody is asked: the program ends with exit code 3, and
// "chat -session" or the page asks. An approval expires after two minutes (-expires).
//
// # Where things are
//
// main.go opens everything, options.go has the commands and flags, settings.go what the environment
// may say, agent.go the agent and its instructions, serve.go the servers, and talk.go the terminal.
// README.md has a map of the packages, and the files to read first.
package main
