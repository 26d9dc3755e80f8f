package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// summarize prints the results side by side.
func summarize(out io.Writer, p *plan, sides [2]*side) {
	row := func(name string, of func(*side) any) {
		fmt.Fprintf(out, "  %-38s %16v %20v\n", name, of(sides[0]), of(sides[1]))
	}
	pawls := func(name string, of func(*side) any) {
		fmt.Fprintf(out, "  %-38s %16v %20s\n", name, of(sides[0]), "-")
	}
	wait := func(name, task string, q float64) {
		row(name, func(s *side) any { return brief(s.lanes[task].waits.p(q)) })
	}
	answered := func(l lane) string { return fmt.Sprintf("%d of %d", l.done, l.asked) }
	fmt.Fprintf(out, "\n  %-38s %16s %20s\n", "", sides[0].name, sides[1].name)

	fmt.Fprintln(out, "People, until the first word of the answer")
	row("answered", func(s *side) any { return answered(*s.lanes[chat]) })
	wait("p50", chat, .5)
	wait("p99", chat, .99)
	wait("longest", chat, 1)
	row("waited more than 10s", func(s *side) any {
		return len(slices.DeleteFunc(slices.Clone(s.lanes[chat].waits),
			func(w sample) bool { return w.wait <= 10*time.Second }))
	})

	fmt.Fprintln(out, "Background")
	row("answered", func(s *side) any { return answered(s.background()) })
	row("refused by a budget", func(s *side) any { return s.background().overBudget })
	row("given up, queue full", func(s *side) any { return s.background().gaveUp })
	wait("agents' work, p99 until the first word", work, .99)
	row(fmt.Sprintf("a flood of %d is done after, median", sides[0].lanes[reindex].asked/len(p.floods)),
		func(s *side) any {
			var took []time.Duration
			for _, f := range p.floods {
				took = append(took, s.clear(p, f))
			}
			slices.Sort(took)
			return brief(took[len(took)/2])
		})
	pawls("preempted by people", func(s *side) any {
		return s.gates[0].Snapshot().Totals.Preempted + s.gates[1].Snapshot().Totals.Preempted
	})

	fmt.Fprintln(out, "Throughput")
	row("answers an hour", func(s *side) any {
		done := s.lanes[chat].done + s.background().done
		return fmt.Sprintf("%.0f", float64(done)/slices.Max(s.ended).Hours())
	})
	row("requests at the providers", func(s *side) any { return s.primary.requests + s.backup.requests })
	row("of them too many (429)", func(s *side) any { return s.primary.refused + s.backup.refused })
	row("of them in the outage (529)", func(s *side) any { return s.primary.down + s.backup.down })
	pawls("times that a breaker opened", func(s *side) any { return s.opened })

	fmt.Fprintln(out, "Money")
	row("charged by the providers", func(s *side) any { return dollars(s.primary.billed + s.backup.billed) })
	pawls("booked in the ledger", func(s *side) any {
		return dollars(provider.Money(s.ledger.Total(budget.Filter{}).Micros))
	})
	pawls("the budget of the day", func(*side) any { return fmt.Sprintf("$%.2f", p.limit.USD) })
	row("the job that runs away", func(s *side) any { return dollars(s.primary.audit + s.backup.audit) })
	pawls("its budget", func(*side) any { return fmt.Sprintf("$%.2f", p.auditLimit.USD) })
}

func dollars(m provider.Money) string { return fmt.Sprintf("$%.2f", float64(m)/float64(provider.USD)) }

// brief writes a wait with about two digits: "820ms", "1.3s", "42s", "3m20s"; "-" if there is none.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < 950*time.Millisecond:
		return d.Round(10 * time.Millisecond).String()
	case d < 9950*time.Millisecond:
		return d.Round(100 * time.Millisecond).String()
	}
	return strings.Replace(d.Round(time.Second).String(), "m0s", "m", 1)
}
