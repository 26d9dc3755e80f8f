// Package skill offers skills in the Agent Skills format (agentskills.io): directories with a file
// SKILL.md, whose front matter has a name and a description, and whose text tells a model how to do
// a kind of task.
//
//	list, err := skill.Dir(os.DirFS(".agents/skills"))
//	…
//	set, err := skill.New(skill.Config{Skills: list})
//	…
//	a, err := agent.New(agent.Config{Provider: model, Tools: append(set.Lazy(edit, test), set.Tool())})
//
// The model sees the names and descriptions, in the description of the tool "skill". It calls the
// tool to read the text of one, and again to read a file of it. Tools that a skill names
// (allowed-tools) are lazy: they are offered from the next model call on after the skill was read,
// for the rest of the session, also after a restart.
//
// # What a skill may do
//
// Its text and files are read, nothing of it is executed: a script runs only if a tool of the host
// runs it. allowed-tools loads tools and permits no call; that is up to policies and approvals.
// Text from a repository that you don't trust should be marked: [Config].Untrusted.
//
// A file is read only below its skill, and symbolic links are refused, also those of directories
// and of skills. If others can change the directory while files are read, give [Dir] the file
// system of an [os.Root], which can't be left even then.
//
// # What doesn't change during a run
//
// Dir reads the texts once. To see a change, call it again and make another Set. What a run has
// read is in its session, and stays as it was. A file is read when the model calls for it.
package skill
