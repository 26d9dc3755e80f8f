package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// completion prints a script that completes the names of commands and flags. It needs no journal.
func completion(*flag.FlagSet) action {
	return func(_ context.Context, p *program, args []string) error {
		if args[0] != "bash" && args[0] != "zsh" {
			return fmt.Errorf("there is completion for bash and zsh, not for %q; %w completion", args[0], errUsage)
		}
		if args[0] == "zsh" {
			fmt.Fprintln(p.out.w, "autoload -U +X bashcompinit && bashcompinit")
		}
		names := slices.Sorted(maps.Keys(commands))
		fmt.Fprintf(p.out.w, "_pawl() {\n  local words\n  case \"$COMP_CWORD ${COMP_WORDS[1]}\" in\n"+
			"    1\\ *|*\\ help) words=%q ;;\n", strings.Join(append(names, "help"), " "))
		for _, name := range names {
			f := p.flags(name)
			commands[name].set(f)
			var flags []string
			f.VisitAll(func(one *flag.Flag) { flags = append(flags, "-"+one.Name) })
			fmt.Fprintf(p.out.w, "    *\\ %s) words=%q ;;\n", name, strings.Join(flags, " "))
		}
		fmt.Fprint(p.out.w, "  esac\n"+
			"  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"+
			"complete -o default -F _pawl pawl\n")
		return nil
	}
}
