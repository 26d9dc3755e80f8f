package schema

import (
	"strings"
	"unicode"
)

// A keyring knows the keys of one object so far. Decoders take a key that differs from a field's name in case only for
// that field, and the last of several; validators do neither. So such keys are refused.
type keyring struct {
	node   *node
	data   bool              // undeclared keys may differ in case only
	seen   bits              // properties that were there
	left   bits              // those of them that were left out again
	others map[string]string // undeclared keys, by themselves or folded
}

// bits is a set of small numbers that needs no allocation below 64.
type bits struct {
	low  uint64
	high map[int]bool
}

func (b *bits) add(i int) {
	if i < 64 {
		b.low |= 1 << i
		return
	}
	if b.high == nil {
		b.high = map[int]bool{}
	}
	b.high[i] = true
}

func (b *bits) has(i int) bool {
	if i < 64 {
		return b.low&(1<<i) != 0
	}
	return b.high[i]
}

// add takes the next key. It returns the index of the declared property, or -1, and what is wrong with the key, if
// anything is. The hint is the index where the key is probably declared.
func (k *keyring) add(key []byte, hint int) (int, string) {
	if p := k.node.find(key, hint); p >= 0 {
		if k.seen.has(p) {
			return p, "the key " + quoteShort(string(key)) + " is there twice"
		}
		k.seen.add(p)
		return p, ""
	}
	if k.node.resembles(key) {
		return -1, unknownKey(string(key), k.node.names())
	}
	name := string(key)
	if !k.data {
		name = fold(name)
	}
	if k.others == nil {
		k.others = map[string]string{}
	}
	other, seen := k.others[name]
	k.others[name] = string(key)
	switch {
	case !seen:
		return -1, ""
	case other == string(key):
		return -1, "the key " + quoteShort(other) + " is there twice"
	}
	return -1, "the keys " + quoteShort(other) + " and " + quoteShort(string(key)) + " differ only in case"
}

// has says whether a declared property is present.
func (k *keyring) has(p int) bool { return k.seen.has(p) && !k.left.has(p) }

// leave takes a property back whose value was left out; should its key come again, it is there twice all the same.
func (k *keyring) leave(p int) { k.left.add(p) }

// resembles says whether an undeclared key differs from a declared one only in case.
func (n *node) resembles(key []byte) bool {
	for i := range n.properties {
		// Folding changes a character's length by two bytes at most.
		if name := n.properties[i].name; len(name) <= 3*len(key) && strings.EqualFold(name, string(key)) {
			return true
		}
	}
	return false
}

// fold maps words that encoding/json takes for the same key to one word: those equal under simple case folding.
func fold(s string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for next := unicode.SimpleFold(c); next != c; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
