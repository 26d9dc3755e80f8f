// Package process runs programs for agents and hosts: an argument vector, never a shell line; a process group of its own
// that is gone when the call is; an environment and a working directory that the host chose; output that is streamed,
// cleaned and bounded.
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
//		return tools.High // asks a person
//	}
//	registry, err := tools.NewRegistry(process.Tool(process.Config{Root: "/srv/project", Programs: []process.Program{git}}))
//
// [Run] is what the tool runs on, for hosts: one [Command], one [Result].
//
// # How a process ends
//
// It ends by itself; or at its time limit (60 s, moved by output to 30 s from then, up to 30 min); or when its context
// does. In the last two cases its whole group is sent INT, after 5 s TERM, after 3 s KILL. However it ended, what is left of
// the group is sent KILL before Run returns, while the ended leader still reserves the group's number, so that no other
// process is ever hit. Grandchildren that hold the pipes open after the leader has ended have 2 s to finish. Whatever was
// written until then is kept. No goroutine outlives Run, except in one case, which the Result reports (Lost): a process
// that the system can't end within 5 s of KILL.
//
// What leaves the group on purpose (setsid, a container, a service manager) isn't followed: that takes a cgroup or a
// container, which is the host's to set up. Pipes that such a process keeps are closed in time.
//
// The agent leaves a call behind 5 s after its context has ended. A program that ignores INT that long is such a call when
// its run is canceled; it is still ended as above. A shorter [Grace] avoids it.
//
// # What keeps a model from escaping
//
// Programs are named, with absolute paths without symbolic links, and outside of the working root unless the host says
// otherwise. Arguments are passed as they are: ";" and "$(…)" are text. Nothing of the host's environment is inherited but
// [SafeEnv] and what the host names; variables that make a program load code (LD_PRELOAD, BASH_ENV, …) are refused from
// everybody. The working directory is opened below the root without following what leads out of it, and on Linux entered
// through that very descriptor. Standard input is closed unless something is given. There is no controlling terminal.
//
// An allowed program can do whatever its user can: this package isn't a sandbox. "find -exec", "git -c alias…", "make" and
// interpreters run anything; [Program.Check] is the place to say what of it is wanted.
//
// # Platforms
//
// On Linux a process also gets KILL when the host dies (not its children: they become orphans). On other Unix systems the
// leader is reaped before the last KILL of the group. Elsewhere there are no groups and no INT or TERM: the process alone is
// killed at once, and its children aren't.
package process
