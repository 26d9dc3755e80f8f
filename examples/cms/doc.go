// The program cms is an agent that looks after a small website in a SQLite file. It needs no key: a model is built in. With
// ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in the environment it asks that provider (see -provider and -model).
//
//	go run ./examples/cms -p "Create an About page with a hero section titled Hello"
//	go run ./examples/cms
//
// Without -p it asks for requests until /quit. The content is in cms.db in the working directory (see -db), and so is what the
// agent did, with all that waits for a decision. It survives the program. A file cms.db.runs.db of a release before that isn't
// read any more; the program says so while something in it is unfinished.
//
// # What the built-in model understands
//
// It is plain Go and no language model. X and Y are names, slugs, or something like them:
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
// # What pages are called
//
// X needn't be the very name. It may be misspelt, in the plural, without its umlauts, or a word of the page's description:
//
//	go run ./examples/cms -p 'describe the Members page as team, people, staff'
//	go run ./examples/cms -p "Show the team page"
//	go run ./examples/cms -p "Delete abuot"
//
// A description that lists names of at most three words gives the page these names; of any other, its words count. The second shows Members, the third asks whether the page About may be deleted. The answer says what X was taken to mean. If
// two pages fit equally well, it asks which, by their addresses; if the best doesn't fit well, it is shown, or put before a person
// where one is asked anyway, and not changed. Pages, section definitions, collections and entries are found by their names and
// slugs, and all but entries by their descriptions; contents aren't searched. The names are kept in an index in memory
// (package memory/index), which each look-up compares with the file and brings in step: so it is never older than the file,
// whichever process wrote that, there is nothing to migrate or to repair, and only names that have changed cost more than reading them.
//
// # Approvals
//
// Deleting a page, removing a section and changing an address ask a person. In a terminal the program asks right away, and
// an answer has two minutes (-expires). Without a terminal it prints what it wants to do, how to decide, and ends with
// status 3; the decision may come later, from another process. The first decision counts, and whoever comes after it is told:
//
//	go run ./examples/cms approvals
//	go run ./examples/cms approvals approve ID
//	go run ./examples/cms approvals reject ID -reason "we need it"
//	go run ./examples/cms -resume SESSION -decide approve
//
// What was approved with always is listed and ended:
//
//	go run ./examples/cms approvals rules
//	go run ./examples/cms approvals revoke cms.updatePage
//
// # Killed, and started again
//
// Kill the program at any moment: a run continues where it was, without doing anything twice. A call that had begun is made
// again if that has no second effect, as with reading, creating a page, adding a section, and writing contents or an entry;
// about others a person is asked. Without -session, all runs that were interrupted continue. A process that was killed holds
// its session for another 5 s at most, which are waited for:
//
//	go run ./examples/cms -continue
//
// In a dialogue the program offers to resume them when it starts. Ctrl-C and SIGTERM bring a run to rest as soon as the
// call under way has ended, and it continues in the same way; a second one ends the program at once.
//
// What a run has changed is taken back as far as its tools can, the newest call first, and what it did is printed whole:
//
//	go run ./examples/cms -undo -session SESSION
//	go run ./examples/cms -export -session SESSION
//
// # Modes
//
//	cms-crud   everything, 10 model calls (the default)
//	architect  reads, and checks plans on a copy of the site, 6 calls
//	debug      reads, and makes a single write a run, 4 calls
//	ask        reads, 6 calls
//
// # Exit status
//
//	0  the run completed
//	1  it failed, -undo left something in effect, or its output couldn't be written
//	2  what was asked for can't be taken: a flag, a provider without its key, or a decision that is unknown, used or too late
//	3  it waits for a decision
//	4  it was stopped by a limit, or rests because of Ctrl-C or SIGTERM, in a run or while it asked
//
// A run whose answer is "I couldn't …", because a request doesn't fit the site or was rejected, has completed: its status
// is 0, and the answer says what wasn't done.
//
// These are a built program's; "go run" prints them and ends with 1 itself.
package main
