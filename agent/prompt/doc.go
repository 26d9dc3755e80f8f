// Package prompt composes prompts from files in three layers, for people who keep prompts under
// version control.
//
//	core     identity, capabilities, universal rules: the same for all modes
//	mode     how to work in one mode: its own text, reusable components, examples
//	runtime  what is known only at run time: the task, the plan, findings
//
// [Load] reads and checks a [Set] at once, from any fs.FS: a folder, an embed.FS, a map in a test.
// Core and mode together are the system text ([Set.Compose]); the runtime layer ([Set.Runtime])
// follows it.
//
//	//go:embed prompts
//	var files embed.FS
//
//	set, err := prompt.Load(files, prompt.Config{
//		Core: []string{"prompts/core/identity.md", "prompts/core/rules.md"},
//		Modes: []prompt.Mode{
//			{Name: "architect", Sections: []string{"prompts/modes/architect.md", "prompts/examples.md#plan"}},
//			{Name: "crud", Sections: []string{"prompts/modes/crud.md", "prompts/components/validation.md"}},
//		},
//		Runtime:     []string{"prompts/runtime.md"},
//		Vars:        map[string]string{"product": "Acme CMS"},
//		RuntimeVars: []string{"task", "today"},
//	})
//	if err != nil {
//		return err // all mistakes, each with its file and line
//	}
//	system, err := set.Compose("crud")
//	...
//	now, err := set.Runtime(map[string]string{"task": prompt.Data("task", task), "today": today})
//
// # Files
//
// A section is a file, or a part of one. Its text is sent unchanged: Markdown, <role>…</role> and
// single braces have no meaning here. Only double braces on one line have:
//
//	{{name}}                        the value of a variable
//	{{> components/tools.md}}       another section, included unchanged; paths begin at the root of the fs.FS
//	{{> components/tools.md#read}}  a part of one
//	{{#read}} … {{/read}}           a part named read, which is text of its file, too; parts may be nested
//	{{! for authors }}              a comment, left out; it may have several lines
//	\{{                             two braces as text; \\{{name}} is a backslash and a variable,
//	                                \\\{{ a backslash and braces
//
// Names are ASCII letters, digits, dots, dashes and underscores, and begin with a letter or an
// underscore. Anything else in double braces is an error, so that a typo is never sent. If a marker
// of a part or a comment is alone on its line, the whole line is removed. Blank lines at the
// beginning and the end of a section and a byte order mark are removed, and CRLF becomes LF: a
// checkout on another system gives the same text.
//
// # Stable prefixes
//
// Prompt caches of providers match equal prefixes, so variable text must come last. The same files
// and the same Config give the same bytes, in every process and on every machine: sections are in
// the order of the Config, and nothing depends on map order. The core is the beginning of every
// mode's text. A variable has its value in one place: [Config].Vars (everywhere, for the life of
// the Set), [Mode].Vars (in that mode only) or RuntimeVars (in the runtime layer only). Using one
// in an earlier layer is an error of Load that names the file and the line, so that, for example, a
// date can't get into the core. [Set.Version] identifies the text of a run in a log.
//
// # Data is not instructions
//
// Values are inserted unchanged: a variable or an include within a value stays text. Nothing is
// escaped, because a prompt has no syntax to escape for. Text from users, pages and tools therefore
// belongs in the runtime layer only, marked as data: [Data] fences it so that it can't close its
// fence. That shows a model where the data ends, but it doesn't make a model immune to instructions
// in the data. Use policies to limit what an agent may do.
//
// # Development
//
// With [Config].Reload the files are read before every composition, so an edit takes effect at the
// next one. An invalid edit is logged, and the last valid text is used. There is no watcher;
// compositions wait for each other, and without Reload a file is read once.
//
// # Guarantees
//
// A Set is safe for concurrent use and starts no goroutine. Logs contain only a prompt's size, its
// version and its mistakes.
//
// Without Reload, Compose is a map lookup: less than 0.1 µs and no allocation. With it, a
// composition of eight files of 2 KiB took 0.2 to 0.5 ms (go test -bench . ./agent/prompt, on two
// shared cores).
package prompt
