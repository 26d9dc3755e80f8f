package wirediff

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A mutation changes a stream. It returns false if it has nothing to change.
type mutation struct {
	name string
	do   func(s *stream, r *rand.Rand) bool
}

// mutate returns a stream of a seed, by its number. Every other one keeps the seed's meaning.
func mutate(a *api, of *seed, base, number uint64) *stream {
	name := fnv.New64a()
	_, _ = name.Write([]byte(of.name)) // it can't fail
	r := rand.New(rand.NewPCG(base^name.Sum64(), number))
	s := original(a, of)
	s.valid, s.number = number%2 == 0, number
	if r.IntN(3) == 0 {
		s.pieces = 1 + r.IntN(200)
	}
	apply := func(from []mutation, n int) {
		for tries := 0; n > 0 && tries < 20 && len(s.frames) > 0; tries++ {
			m := from[r.IntN(len(from))]
			if !s.has(m.name) && m.do(s, r) {
				s.did = append(s.did, m.name)
				n--
			}
		}
	}
	if s.valid {
		apply(keeping, 1+r.IntN(3))
		return s
	}
	apply(damaging, 1+r.IntN(2))
	apply(keeping, r.IntN(2))
	return s
}

// keeping are the mutations that keep what a stream means.
var keeping = []mutation{
	{"crlf", func(s *stream, _ *rand.Rand) bool { s.style.end = "\r\n"; return true }},
	{"cr", func(s *stream, _ *rand.Rand) bool { s.style.end = "\r"; return true }},
	{"no-blank", func(s *stream, _ *rand.Rand) bool { s.style.colon = ":"; return true }},
	{"mark", func(s *stream, _ *rand.Rand) bool { s.style.mark = true; return true }},
	{"more-blank-lines", func(s *stream, _ *rand.Rand) bool { s.style.blanks = true; return true }},
	{"fields", func(s *stream, _ *rand.Rand) bool { s.style.ids = true; return true }},
	{"name-last", func(s *stream, _ *rand.Rand) bool { s.style.nameLast = true; return s.named() }},
	{"no-names", func(s *stream, _ *rand.Rand) bool { s.style.unnamed = true; return s.named() }},
	{"blanks-before", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string { return "  " + v.text(spelling{}) })
	}},
	{"comments", func(s *stream, r *rand.Rand) bool {
		s.insert(r, frame{line: []string{": processing", ":", ": {\"a\":1}"}[r.IntN(3)]})
		return true
	}},
	{"pings", func(s *stream, r *rand.Rand) bool { s.insert(r, s.api.ping); return true }},
	{"unknown-event", func(s *stream, r *rand.Rand) bool {
		f := s.api.unknown
		for _, other := range s.frames { // an accumulator refuses another id
			if id, ok := parse(other.data).at("id").string(); ok {
				f.data = strings.ReplaceAll(f.data, `"$ID"`, quote(id))
				break
			}
		}
		s.insert(r, f)
		return true
	}},
	{"empty-delta", func(s *stream, r *rand.Rand) bool { return s.split(r, 0) }},
	{"split-delta", func(s *stream, r *rand.Rand) bool { return s.split(r, 1+r.IntN(1<<20)) }},
	{"lines", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string { return v.text(spelling{r: r, lines: true}) })
	}},
	{"blanks", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string { return v.text(spelling{r: r, blanks: true}) })
	}},
	{"escapes", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string { return v.text(spelling{r: r, escape: 1 + r.IntN(5)}) })
	}},
	{"order", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string {
			v.each(func(o *value) {
				if o.kind == '{' {
					r.Shuffle(len(o.keys), func(i, j int) {
						o.keys[i], o.keys[j] = o.keys[j], o.keys[i]
						o.vals[i], o.vals[j] = o.vals[j], o.vals[i]
					})
				}
			})
			return v.text(spelling{})
		})
	}},
	{"unknown-members", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string {
			v.each(func(o *value) {
				// All of a request for approval is what its call says.
				if o.kind == '{' && !o.at("type").is("mcp_approval_request") && r.IntN(2) == 0 {
					values := []string{"1", `"x"`, "null", "true", `{"text":"no","type":"no"}`, "[1,{}]"}
					o.set("x_unknown", values[r.IntN(len(values))])
				}
			})
			return v.text(spelling{})
		})
	}},
	{"null-members", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string {
			for _, n := range s.api.nulls {
				if o := v.at(n.path...); o != nil && o.kind == '{' && o.at(n.key) == nil && r.IntN(3) == 0 {
					o.set(n.key, "null")
				}
			}
			return v.text(spelling{})
		})
	}},
	{"null-error", func(s *stream, r *rand.Rand) bool {
		return s.oneJSON(r, func(v *value) bool {
			if v.kind != '{' || v.at("error") != nil {
				return false
			}
			v.set("error", "null")
			return true
		})
	}},
	{"floats", func(s *stream, r *rand.Rand) bool {
		return s.eachJSON(r, func(v *value) string {
			v.each(func(o *value) {
				if n, err := strconv.Atoi(o.raw); o.kind == '0' && err == nil && n >= 0 && r.IntN(2) == 0 {
					o.raw = fmt.Sprintf([]string{"%d.0", "%de0"}[r.IntN(2)], n)
				}
			})
			return v.text(spelling{})
		})
	}},
}

// damaging are those that don't.
var damaging = []mutation{
	{"drop", func(s *stream, r *rand.Rand) bool {
		i := r.IntN(len(s.frames))
		s.frames = slices.Delete(s.frames, i, i+1)
		return len(s.frames) > 0
	}},
	{"repeat", func(s *stream, r *rand.Rand) bool {
		i := r.IntN(len(s.frames))
		s.frames = slices.Insert(s.frames, i, s.frames[i])
		return true
	}},
	{"swap", func(s *stream, r *rand.Rand) bool {
		i, j := r.IntN(len(s.frames)), r.IntN(len(s.frames))
		s.frames[i], s.frames[j] = s.frames[j], s.frames[i]
		return s.frames[i] != s.frames[j]
	}},
	{"swap-next", func(s *stream, r *rand.Rand) bool {
		if len(s.frames) < 2 {
			return false
		}
		i := r.IntN(len(s.frames) - 1)
		s.frames[i], s.frames[i+1] = s.frames[i+1], s.frames[i]
		return s.frames[i] != s.frames[i+1]
	}},
	{"truncate", func(s *stream, r *rand.Rand) bool {
		f := &s.frames[r.IntN(len(s.frames))]
		if len(f.data) < 2 {
			return false
		}
		f.data = strings.TrimRight(f.data[:1+r.IntN(len(f.data)-1)], "\n")
		return true
	}},
	{"cut", func(s *stream, r *rand.Rand) bool { s.cut = 1 + r.IntN(999); return true }},
	{"cut-late", func(s *stream, r *rand.Rand) bool { s.cut = 900 + r.IntN(100); return true }},
	{"flip", func(s *stream, r *rand.Rand) bool { s.flip = 1 + r.IntN(999); return true }},
	{"unclosed", func(s *stream, _ *rand.Rand) bool { s.style.unclosed = true; return true }},
	{"finish", func(s *stream, r *rand.Rand) bool {
		return s.oneJSON(r, func(v *value) bool {
			for _, path := range s.api.finishes {
				o := v.at(path[:len(path)-1]...)
				key, _ := path[len(path)-1].(string)
				if old := o.at(key); old != nil && old.kind == '"' {
					o.set(key, quote(s.api.stops[r.IntN(len(s.api.stops))]))
					return true
				}
			}
			return false
		})
	}},
	{"no-finish", func(s *stream, r *rand.Rand) bool {
		return s.oneJSON(r, func(v *value) bool {
			for _, path := range s.api.finishes {
				o := v.at(path[:len(path)-1]...)
				key, _ := path[len(path)-1].(string)
				if old := o.at(key); old != nil && old.kind == '"' {
					o.set(key, "null")
					return true
				}
			}
			return false
		})
	}},
	{"error", func(s *stream, r *rand.Rand) bool {
		s.insert(r, s.api.failures[r.IntN(len(s.api.failures))])
		return true
	}},
	{"no-member", func(s *stream, r *rand.Rand) bool {
		return s.oneJSON(r, func(v *value) bool {
			o := pick(r, v, func(o *value) bool { return len(o.vals) > 0 })
			if o != nil {
				o.remove(r.IntN(len(o.vals)))
			}
			return o != nil
		})
	}},
	{"another-value", func(s *stream, r *rand.Rand) bool {
		return s.oneJSON(r, func(v *value) bool {
			o := pick(r, v, func(o *value) bool { return o != v })
			if o != nil {
				*o = *parse([]string{"null", "0", "7", `"7"`, `""`, "true", "[]", "{}", "-1"}[r.IntN(9)])
			}
			return o != nil
		})
	}},
	{"another-stream", func(s *stream, r *rand.Rand) bool {
		at := r.IntN(len(s.frames) + 1)
		s.frames = slices.Insert(s.frames, at, s.seed.frames[r.IntN(len(s.seed.frames)):]...)
		return true
	}},
}

// named reports whether events have names.
func (s *stream) named() bool {
	return slices.ContainsFunc(s.frames, func(f frame) bool { return f.event != "" })
}

// insert inserts a frame at a random place.
func (s *stream) insert(r *rand.Rand, f frame) {
	s.frames = slices.Insert(s.frames, r.IntN(len(s.frames)+1), f)
}

// eachJSON changes all events, or half of them, or one.
func (s *stream) eachJSON(r *rand.Rand, change func(v *value) string) bool {
	only, half, changed := -1, r.IntN(3) == 0, false
	if r.IntN(2) == 0 {
		only = r.IntN(len(s.frames))
	}
	for i := range s.frames {
		if only >= 0 && i != only || half && r.IntN(2) == 0 {
			continue
		}
		if v := parse(s.frames[i].data); v != nil && v.kind == '{' {
			s.frames[i].data, changed = change(v), true
		}
	}
	return changed
}

// oneJSON changes one event that can be changed, from a random one on.
func (s *stream) oneJSON(r *rand.Rand, change func(v *value) bool) bool {
	first := r.IntN(len(s.frames))
	for n := range s.frames {
		i := (first + n) % len(s.frames)
		if v := parse(s.frames[i].data); v != nil && change(v) {
			s.frames[i].data = v.text(spelling{})
			return true
		}
	}
	return false
}

// pick returns a random value in v for which ok is true, or nil.
func pick(r *rand.Rand, v *value, ok func(v *value) bool) *value {
	var all []*value
	v.each(func(o *value) {
		if ok(o) {
			all = append(all, o)
		}
	})
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// split writes a piece of text or of arguments as two. The first has as many of its characters as
// at says, modulo their number; with 0 it is empty.
func (s *stream) split(r *rand.Rand, at int) bool {
	first := r.IntN(len(s.frames))
	for n := range s.frames {
		i := (first + n) % len(s.frames)
		v := parse(s.frames[i].data)
		if v == nil {
			continue
		}
		path, ok := s.api.piece(v)
		if !ok {
			continue
		}
		o, key := v.at(path[:len(path)-1]...), path[len(path)-1].(string)
		text, ok := o.at(key).string()
		if !ok || text == "" {
			continue
		}
		runes := []rune(text)
		k := at % len(runes)
		if at > 0 && len(runes) > 1 {
			k = max(k, 1)
		}
		one, two := v, v.clone()
		one.at(path[:len(path)-1]...).set(key, quote(string(runes[:k])))
		two.at(path[:len(path)-1]...).set(key, quote(string(runes[k:])))
		if s.api.second != nil {
			s.api.second(two)
		}
		f := s.frames[i]
		f.data = two.text(spelling{})
		s.frames[i].data = one.text(spelling{})
		s.frames = slices.Insert(s.frames, i+1, f)
		return true
	}
	return false
}
