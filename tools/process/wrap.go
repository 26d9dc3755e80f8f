package process

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// trialTime is how long the trial of a jail may take.
const trialTime = 10 * time.Second

// wrap puts a command into the jail of [Config].Wrap, if there is one.
func (t *tool) wrap(cmd *Command) error {
	if t.cfg.Wrap == nil {
		return nil
	}
	inner := append([]string{cmd.Path}, cmd.Args...)
	argv := t.cfg.Wrap(slices.Clone(inner))
	if n := len(argv) - len(inner); n < 1 || !slices.Equal(argv[n:], inner) {
		return refuse(fault.Permanent, "Config.Wrap returned %.200q for %.200q; it must put a program and its arguments "+
			"before these words, and change none of them", argv, inner)
	}
	cmd.Path, cmd.Args = argv[0], argv[1:]
	if err := cmd.check(); err != nil {
		return fmt.Errorf("process: the program of Config.Wrap can't be used: %w", err)
	}
	return nil
}

// tryJail runs the program "true" in the jail, because one that can't be set up by Config.Wrap ends
// like a program that has failed.
func (t *tool) tryJail() error {
	switch {
	case t.cfg.Jail != nil && t.cfg.Wrap != nil:
		return refuse(fault.Invalid, "Config.Jail and Config.Wrap are both set; give one of them")
	case t.cfg.Jail != nil:
		return t.cfg.Jail.tryOnce(t.cfg.Root)
	case t.cfg.Wrap == nil:
		return nil
	}
	p, err := Lookup("true")
	if err != nil {
		return err
	}
	cmd := Command{Path: p.Path, Root: t.cfg.Root, Env: SafeEnv(), Timeout: trialTime, Extend: -1}
	if err := t.wrap(&cmd); err != nil {
		return err
	}
	r, err := Run(context.Background(), cmd)
	if err == nil && r.ExitCode == 0 {
		return nil
	}
	return fault.NewFixable(fmt.Sprintf("process: the jail of Config.Wrap doesn't work: %s ended with %d: %.500s",
		cmd.Path, r.ExitCode, r.Output), "install or permit it, or leave Config.Wrap out", err)
}
