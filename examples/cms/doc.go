// The program cms is an agent that maintains a small website in a SQLite file. It needs no API key:
// it has a built-in fake model. With a key and a model in the environment, such as OPENAI_API_KEY
// and OPENAI_MODEL, it calls that provider: see package provider/fromenv, and -model.
//
//	go run ./examples/cms
//	go run ./examples/cms -p "Create an About page with a hero section titled Hello"
//	go run ./examples/cms chat
//
// The first command serves a page for a browser and prints its address; with -open it opens the
// page, too. The second runs one request in the terminal, and the third asks for requests until
// /quit. The content, the runs of the agent and pending decisions are stored in cms.db in the
// working directory (see -db).
//
// # What the built-in model understands
//
// It is plain Go and not a language model. X and Y are names or slugs, or similar to them:
//
//	create a page called X [with a hero|text section [titled T] [saying B]] [with slug S] [with description D]
//	list pages | sections | collections | entries [of C]
//	show X | show entry X | preview X | find X
//	rename X to Y | change the slug of X to S | describe X as D (or: set the description of X to D)
//	delete X
//	add a hero|text section to X [titled T] [saying B]
//	remove | hide | publish the hero section on X
//	set the title of the hero on X to T     (also: subtitle, button text, heading, body)
//	write a blog entry titled X [saying B] | set the body of the entry X to B
//	help
//
// Several requests may follow each other: "create a page called News, then preview it".
//
// # Names of pages
//
// X needn't be the exact name. It may be misspelled, in the plural, without umlauts, or a word of
// the page's description:
//
//	go run ./examples/cms -p 'describe the Members page as team, people, staff'
//	go run ./examples/cms -p "Show the team page"
//	go run ./examples/cms -p "Delete abuot"
//
// If a description is a list of names of at most three words each, these are additional names of
// the page; otherwise its words are searched. The second command shows Members; the third asks
// whether the page About may be deleted. The answer says which page X was resolved to. If two pages
// match equally well, it asks which one, by their addresses. A page that doesn't match well may be
// shown, or proposed where a person is asked anyway, but it isn't changed. Pages, section
// definitions, collections and entries are found by names and slugs, and all except entries by
// descriptions; contents aren't searched. The names are in an index in memory (package
// memory/index), which each look-up compares with the file and updates. So it is never older than
// the file, whichever process wrote that, and needs no migration or repair; only changed names cost
// more than reading them.
//
// # Approvals
//
// Deleting a page, removing a section and changing an address need approval. In a terminal the
// program asks right away. Without a terminal it prints what it wants to do and how to decide, and
// exits with status 3; the decision can be made by another process. An approval expires after two
// minutes (-expires). The first decision counts; later ones get an error:
//
//	go run ./examples/cms approvals
//	go run ./examples/cms approvals approve ID
//	go run ./examples/cms approvals reject ID -reason "we need it"
//	go run ./examples/cms -resume SESSION -decide approve
//
// Standing approvals (always) are listed and revoked with:
//
//	go run ./examples/cms approvals rules
//	go run ./examples/cms approvals revoke cms.updatePage
//
// # Servers
//
// These serve the agent's page, the REST API and the preview of the site, and the preview alone.
// They listen on this computer only: there is no login. Without a command the program does the same
// as with serve.
//
//	go run ./examples/cms serve [-open] [-addr localhost:3000] [-api localhost:8787] [-preview localhost:4000]
//	go run ./examples/cms preview
//
// GET /openapi.json of the API describes it. Pages of the preview load themselves again when the
// site changes. Uploaded files are in the folder uploads beside the file. These replace the
// contents by those of a new site, delete everything including the conversations, and print the
// contents:
//
//	go run ./examples/cms seed
//	go run ./examples/cms reset
//	go run ./examples/cms export
//
// # Where things are
//
// This package has the command line. internal/site is the content and its rules, internal/preview
// shows it, internal/services opens both once for all that use them, internal/cmstools are the
// agent's tools, internal/api the REST API, and internal/model the built-in model.
//
// # Crashes and interruptions
//
// The program can be killed at any moment: a run resumes where it was, without doing anything
// twice. A call that had begun is made again if that has no second effect, as with reading,
// creating a page, adding a section, and writing contents or an entry; for other calls a person is
// asked. Without -session, all interrupted runs are resumed. A killed process holds its session for
// at most another 4 s; the program waits for that:
//
//	go run ./examples/cms -continue
//
// The program names such sessions when it starts, and the session of a chat goes on at once. Ctrl-C
// stops a run. SIGTERM, and a second Ctrl-C, end the program as soon as the current calls have
// ended, after at most 5 s, and the run can be resumed in the same way; another signal ends it at
// once.
//
// These commands undo the changes of a run as far as its tools can, newest call first, list the
// sessions, print a conversation, and print its whole log as JSON lines:
//
//	go run ./examples/cms -undo -session SESSION
//	go run ./examples/cms history
//	go run ./examples/cms history -session SESSION
//	go run ./examples/cms history -session SESSION -json
//
// # Modes
//
//	cms-crud   everything, 20 model calls (the default)
//	architect  reads, and checks plans on a copy of the site, 6 calls
//	debug      reads, and makes a single write per run, 4 calls
//	ask        reads, 6 calls
//
// # Exit status
//
//	0  the run completed
//	1  it failed, -undo left something in effect, or its output couldn't be written
//	2  invalid arguments: a flag, a provider without its key, or a decision that is unknown, used or too late
//	3  it waits for a decision
//	4  it was stopped by a limit, or by Ctrl-C or SIGTERM, in a run or while it asked
//
// A run whose answer is "I couldn't …", because a request doesn't fit the site or was rejected, has
// completed: its status is 0, and the answer says what wasn't done.
//
// These are the statuses of the built program; "go run" prints them and exits with 1 itself.
package main
