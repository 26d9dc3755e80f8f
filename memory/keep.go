package memory

// keepFewer unpins some of the last groups, but not the newest, until compaction can reach target
// tokens. Otherwise a compaction would free little, and nearly every step would be compacted. If
// groups with another pin alone take more than target, fewer groups wouldn't help, and all are
// kept.
func (j *job) keepFewer(target int) {
	recent, rest := j.recent()
	if rest >= target {
		return
	}
	for keep := min(j.keep, len(j.groups)) - 1; keep > 0 && plus(recent, rest) > target; keep-- {
		j.keep = keep
		j.pin()
		recent, rest = j.recent()
	}
}

// recent returns what the groups take that stay only because they are among the last ones, and what
// the request takes without these and without what may go.
func (j *job) recent() (recent, rest int) {
	rest = j.fixed
	for i := range j.groups {
		switch g := &j.groups[i]; {
		case g.Kind == KindNote || g.Pinned.hard():
			rest = plus(rest, g.Tokens)
		case g.Pinned == PinRecent:
			recent = plus(recent, g.Tokens)
		}
	}
	return recent, rest
}
