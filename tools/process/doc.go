// Package process runs programs for agents and hosts: with an argument vector instead of a shell,
// in a process group that is killed when the call ends, with an environment and a working directory
// that the host chooses, and with output that is streamed, cleaned and limited.
//
// [Tool] makes the tool that a model calls, from an allow-list of programs:
//
//	git, err := process.Lookup("git")
//	if err != nil {
//		return err
//	}
//	git.Check = process.Subcommands("status", "diff", "log", "commit")
//	git.Risk = func(args []string) tools.Risk {
//		if len(args) > 0 && args[0] != "commit" {
//			return tools.Low
//		}
//		return tools.High // needs approval
//	}
//	registry, err := tools.NewRegistry(process.Tool(process.Config{
//		Root: "/srv/project", Programs: []process.Program{git},
//	}))
//
// [Run] is the function behind the tool, for hosts: it takes a [Command] and returns a [Result].
//
// # How a process ends
//
// A process ends by itself, or at its time limit (60 s; output moves the limit to 30 s from then,
// up to 30 min), or when its context ends. In the last two cases its whole group gets INT, after 5
// s TERM, after another 3 s KILL. In all cases the rest of the group gets KILL before Run returns,
// while the ended leader still reserves the group's number, so that no other process can be hit.
// Grandchildren that keep the pipes open after the leader has ended have 2 s to finish. All output
// until then is kept. No goroutine outlives Run, except in one case, which the Result reports
// (Lost): a process that the system can't end within 5 s of KILL.
//
// The program is the leader of a session, too. On Linux all signals also go to the other groups of
// the session, such as the jobs of a shell with job control ("set -m"), so that none of them
// survives. That needs /proc. On other systems only the group gets signals, and such jobs survive.
//
// A process that leaves the session on purpose (setsid, a container, a service manager) isn't
// followed: that needs a cgroup or a container, which the host must set up. Pipes that such a
// process keeps are closed in time.
//
// The agent abandons a call 5 s after its context has ended. If a run is canceled and a program
// ignores INT for that long, its call is abandoned; the program is still ended as above. A shorter
// [Grace] avoids this.
//
// # Long outputs
//
// The model reads the beginning and the end of a long output, and lines between them that mention
// errors. With a folder in [Config].Outputs, all of it is kept in a file, which tools/file can
// read.
//
// # Security
//
// Only listed programs run, by absolute paths without symbolic links, and outside of the working
// root unless the host allows otherwise. Arguments are passed unchanged: ";" and "$(…)" are text.
// Of the host's environment, only [SafeEnv] and the variables that the host names are inherited.
// Variables that are known to make a program load code or run another are rejected: LD_PRELOAD,
// BASH_ENV, GIT_CONFIG_COUNT, EDITOR, PAGER, BROWSER, PYTHONWARNINGS and others always, GOFLAGS,
// GOCACHEPROG, CC, MAKEFILES, GIT_DIR, TAR_OPTIONS, NODE_REPL_EXTERNAL_MODULE and others unless the
// host sets their values itself ([Config].Set). The file env.go has both lists; programs that it
// doesn't know may have others. The working directory is opened
// below the root without following links that lead out of it, and on Linux it is entered through
// that descriptor. A call of the tool names it without symbolic links and without "..", so that the
// directory that a person approves is the one that is used, even if one is replaced by a link after
// the approval; other names are errors, which say the right one. Standard input is empty. There is
// no controlling terminal.
//
// Without a jail, an allowed program can do whatever its user can. "find -exec", "git -c alias…",
// "make" and interpreters run anything; use [Program.Check] to restrict arguments, and a [Jail] for
// what they run. On Linux, programs inherit no descriptors of this process.
//
// # Platforms
//
// On Linux a process also gets KILL when the host dies (its children don't: they become orphans).
// On other Unix systems the leader is reaped before the last KILL of the group. Elsewhere there are
// no groups and no INT or TERM: only the process itself is killed, at once.
package process
