// Package policy keeps permissions as data: rules from a file, modes, and grants that people give
// for a whole project.
//
//	rules, err := policy.Parse(text) // {"hard": [{"effect": "deny", "tool": "run", "args": ["git", "push"]}]}
//	…
//	set, err := policy.New(policy.Config{Rules: rules, Book: policy.File(path)})
//	…
//	a, err := agent.New(agent.Config{
//		Modes:    set.Modes(), // plan, ask, edits, auto
//		Policies: []tools.Policy{set.Policy()},
//		Hooks:    []agent.Hooks{set.Hooks()}, // "always, in this project" becomes a grant
//		…
//	})
//
// # The order
//
// For each call, and again right before it runs, the first of these that says something counts:
//
//  1. Rules.Hard that deny.
//  2. Rules.Rules, and rules of the [Book], that deny. If the Book fails, the call is denied.
//  3. The mode, where it denies: [Plan] denies what isn't read-only.
//  4. Rules.Hard that ask: a person is asked about each call.
//  5. Rules that allow, which are the grants. One answers rules that ask only if each of them asks
//     about all that it permits. None answers for a tool of high risk without Spec.AllowAlways.
//  6. Rules that ask, in every mode. A standing rule of the session answers them, too, however
//     narrow they are: what a person has to see each time is for Rules.Hard.
//  7. The mode: [Ask] asks about what isn't read-only, [Edits] permits what has a preview and no
//     high risk, [Auto] permits all that can be compared with rules. A tool of high risk without
//     Spec.AllowAlways asks in every mode, unless it is read-only.
//  8. The tool's own question.
//
// # What rules see
//
// A rule is about a tool, and about the words, paths and hosts of the call's validated input: see
// [Subject]. Words are compared, never text, so "ls; rm -rf" is one word of a list of arguments.
// The command of a call may be one text instead, for a shell. If it is plain, its words are
// compared with what denies and asks; if it isn't (see [Words]), it matches all rules about words
// that deny or ask, and the reason says so. No rule allows it. What denies or asks otherwise
// matches widely: the words of the rule in this order, with others between them; any case; names of
// programs with or without a path; links resolved and not resolved; the folder of a file as well as
// the file, and a folder that has it, unless the call only reads. What can't be read, such as a
// word with a NUL, matches all of them. What allows matches exactly: the first words, a path that
// means the same with and without links, a plain host.
//
// Rules don't see what a program does, nor what is behind a hard link. A shell, an interpreter and
// a file of arguments run anything, so permit only programs that you list (tools/process), and
// don't rely on a rule that denies alone. A rule about a path doesn't see what a search of a folder
// above it finds: hide files with the Config of tools/file.
//
// # How far a grant reaches
//
// A pause offers the scope [Project] beside the session, if a grant is possible. If a rule with
// Args, Path or Host asked, the grant is for what this rule names: "run `go test …`". Otherwise it
// is for exactly these words, this path and this host. Its text says so. It is bound to the tool's
// schema and description. None is offered for an input with words and more, such as standard input.
//
// # Beside the rules
//
// [AfterOutside] asks about calls while text from outside is in the conversation, and a [Sum] about
// amounts that are above a limit together. They are policies of their own, with or without a [Set].
package policy
