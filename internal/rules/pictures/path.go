package main

import (
	"fmt"
	"slices"
)

// A station is a part of the guard that a model call passes.
type station struct {
	call  string // in provider/guard
	name  string
	where string // its package
	says  []string
}

// admission are the stations before the provider, in no order: the order is that of guard's admit.
var admission = []station{
	{"breaker.Ready", "breaker", "circuit", []string{"If the provider keeps failing,", "the call fails now."}},
	{"gate.Acquire", "gate", "ratelimit", []string{"A slot and a rate: people go", "before background work."}},
	{"budget.Reserve", "budget", "ratelimit/budget",
		[]string{"Tokens and money for the worst", "case. A wait gives the slot back."}},
	{"breaker.Allow", "permit", "circuit", []string{"One of few, while the breaker", "probes a provider that failed."}},
}

// settling are the stations after it, in no order.
var settling = []station{
	{"ledger.Record", "ledger", "", nil},
	{"reservation.Settle", "reservation", "", nil},
	{"permit.Done", "permit", "", nil},
	{"lease.Release", "slot", "", nil},
}

// inOrder returns stations in the order in which a method of guard's call calls them.
func inOrder(root, method string, all []station) (found []station, err error) {
	calls, err := callsOf(root, method)
	if err != nil {
		return nil, err
	}
	for _, call := range calls {
		i := slices.IndexFunc(all, func(s station) bool { return s.call == call })
		if i >= 0 && !slices.ContainsFunc(found, func(s station) bool { return s.call == call }) {
			found = append(found, all[i])
		}
	}
	if len(found) != len(all) {
		return nil, fmt.Errorf("provider/guard: %s calls %d of %d stations: %v", method, len(found), len(all), calls)
	}
	return found, nil
}

// drawPath draws the path of a model call.
func drawPath(root string) (string, error) {
	before, err := inOrder(root, "admit", admission)
	if err != nil {
		return "", err
	}
	after, err := inOrder(root, "settle", settling)
	if err != nil {
		return "", err
	}
	const left, boxW, boxH, gap = 40, 420, 66, 28
	height := 80 + (len(before)+1)*(boxH+gap) + 96
	c := newCanvas(height, "The path of a model call", "What a call passes on its way to a provider, and what it gives back.")
	c.text("small", 20, 52, "Each attempt passes all of it, in this order (provider/guard).")
	y := 78
	for _, s := range before {
		c.box("box", left, y, boxW, boxH)
		c.text("name", left+16, y+28, s.name)
		c.text("fact", left+16, y+48, s.where)
		for i, line := range s.says {
			c.text("small", left+156, y+28+18*i, line)
		}
		if s.call == "gate.Acquire" {
			c.lanes(left, y, boxH)
		}
		c.edge(fmt.Sprintf("M%d %dV%d", width/2, y+boxH, y+boxH+gap-2))
		y += boxH + gap
	}
	c.box("over", left, y, boxW, boxH)
	c.text("name", left+16, y+28, "provider")
	c.text("fact", left+16, y+48, "provider/…")
	c.text("small", left+156, y+28, "The answer, chunk by chunk,")
	c.text("small", left+156, y+46, "checked. A watchdog ends silence.")
	c.edge(fmt.Sprintf("M%d %dH%dV%dH%d", left, y+boxH/2, left-18, 78+boxH/2, left-2))
	c.edge(fmt.Sprintf("M%d %dV%d", width/2, y+boxH, y+boxH+gap-2))
	y += boxH + gap
	c.box("box", left, y, boxW, 58)
	c.text("name", left+16, y+24, "settle")
	c.text("small", left+76, y+24, "after success, failure, cancel, panic or a break:")
	names := ""
	for i, s := range after {
		if i > 0 {
			names += " → "
		}
		names += s.name
	}
	c.text("fact", left+16, y+44, names)
	c.text("small", 20, y+82, "Left: a failure that may pass is tried again, from the breaker on.")
	return c.end(), nil
}

// lanes draws the two lanes of the gate: people, and work behind them.
func (c *canvas) lanes(left, y, h int) {
	for i := range 3 {
		c.dot("person", left+380-14*i, y+h/2-9)
	}
	for i := range 3 {
		c.dot("work", left+380-14*i, y+h/2+9)
	}
}
