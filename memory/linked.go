package memory

import "slices"

// linkedGroups says which groups go together: the two ends of each finished subgoal, since one that
// is left alone would be taken for another's, and what these are an end of, too. To each such group
// it has all of them, itself as well, in order.
type linkedGroups map[int][]int

func linkedGroupsOf(subgoals []Subgoal) linkedGroups {
	parent := make(map[int]int)
	root := func(i int) int {
		if _, ok := parent[i]; !ok {
			parent[i] = i
		}
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i := range subgoals {
		s := &subgoals[i]
		if s.Open || s.From < 0 || s.To <= s.From+1 {
			continue
		}
		if a, b := root(s.From), root(s.To-1); a != b {
			parent[max(a, b)] = min(a, b)
		}
	}
	if len(parent) == 0 {
		return nil
	}
	all := make([]int, 0, len(parent))
	for i := range parent {
		all = append(all, i)
	}
	slices.Sort(all)
	sets := make(map[int][]int)
	for _, i := range all {
		r := root(i)
		sets[r] = append(sets[r], i)
	}
	out := make(linkedGroups, len(all))
	for _, i := range all {
		out[i] = sets[root(i)]
	}
	return out
}

// pin pins what goes with a pinned group: hard, if one of them is.
func (e linkedGroups) pin(groups []Group) {
	for first, set := range e {
		if first != set[0] {
			continue
		}
		pinned, hard := false, false
		for _, i := range set {
			pinned = pinned || groups[i].Pinned != ""
			hard = hard || groups[i].Pinned.hard()
		}
		for _, i := range set {
			switch g := &groups[i]; {
			case hard && !g.Pinned.hard():
				g.Pinned = PinSubgoal
			case pinned && g.Pinned == "":
				g.Pinned = PinRecent
			}
		}
	}
}

// together returns the groups that go with one that is dropped, itself as well, in order, until it
// is called again. The second result is false if one of them must stay.
func (v *View) together(group int) ([]int, bool) {
	if v.linked == nil && len(v.Subgoals) > 0 {
		v.linked = linkedGroupsOf(v.Subgoals)
	}
	set, ok := v.linked[group]
	if !ok {
		v.alone[0] = group
		return v.alone[:], v.Groups[group].Pinned == ""
	}
	for _, i := range set {
		if i >= len(v.Groups) || v.Groups[i].Pinned != "" {
			return nil, false
		}
	}
	return set, true
}
