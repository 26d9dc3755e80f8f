package sim

import "slices"

// shrink returns the shortest program that it finds that still fails, and its problems. It tries
// most runs at most. A run may fail by chance only, so each is tried twice.
func shrink(p *program, most int, run func(*program) []string) (*program, []string) {
	problems := run(p)
	fails := func(c *program) bool {
		for range 2 {
			if most--; most < 0 {
				return false
			}
			if found := run(c); len(found) > 0 {
				p, problems = c, found
				return true
			}
		}
		return false
	}
	for again := true; again && most > 0; {
		before := p.size()
		for n := max(len(p.ops)/2, 1); n > 0; n /= 2 { // operations, many at first
			for i := 0; i < len(p.ops); {
				c := p.clone()
				c.ops = slices.Delete(c.ops, i, min(i+n, len(c.ops)))
				if !fails(c) {
					i += n
				}
			}
		}
		for i := 0; i < len(p.with); {
			c := p.clone()
			if c.with = slices.Delete(c.with, i, i+1); !fails(c) {
				i++
			}
		}
		for _, name := range p.used() {
			shrinkScript(p, name, fails)
		}
		again = p.size() < before
	}
	return p, problems
}

// shrinkScript removes steps and calls of a script while the program still fails. It returns with
// the first that can be removed, so that it is called again with the shorter program.
func shrinkScript(p *program, name string, fails func(*program) bool) {
	for i := range p.scripts[name] {
		c := p.clone()
		c.scripts[name] = slices.Delete(c.scripts[name], i, i+1)
		if fails(c) {
			return
		}
	}
	for i, step := range p.scripts[name] {
		for j := range step {
			if len(step) == 1 {
				continue
			}
			c := p.clone()
			c.scripts[name][i] = slices.Delete(c.scripts[name][i], j, j+1)
			if fails(c) {
				return
			}
		}
	}
}
