package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/chart"
	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

// long is a wait that people notice.
const long = 10 * time.Second

// summarize prints the results side by side.
func summarize(out io.Writer, r *day.Report) {
	row := func(name string, of func(*day.SideReport) string) {
		fmt.Fprintf(out, "  %-38s %16s %20s\n", name, of(r.Sides[0]), of(r.Sides[1]))
	}
	head := func(name string) { fmt.Fprintf(out, "%s\n", name) }
	wait := func(task string, q float64) func(*day.SideReport) string {
		return func(s *day.SideReport) string { return brief(s.Lanes[task].Waits.P(q)) }
	}
	count := func(of func(*day.SideReport) int) func(*day.SideReport) string {
		return func(s *day.SideReport) string { return strconv.Itoa(of(s)) }
	}
	fmt.Fprintf(out, "\n  %-38s %16s %20s\n", "", r.Sides[0].Name, r.Sides[1].Name)

	head("People, until the first word of the answer")
	row("answered", func(s *day.SideReport) string { return answered(s.Lanes[day.Chat]) })
	row("p50", wait(day.Chat, .5))
	row("p99", wait(day.Chat, .99))
	row("longest", wait(day.Chat, 1))
	row("waited more than "+brief(long),
		count(func(s *day.SideReport) int { return over(s.Lanes[day.Chat].Waits, long) }))

	head("Background")
	row("answered", func(s *day.SideReport) string { return answered(s.Background()) })
	row("refused by a budget", count(func(s *day.SideReport) int { return s.Background().Refused[day.ReasonBudget] }))
	row("given up, queue full", count(func(s *day.SideReport) int {
		refused := s.Background().Refused
		return refused[day.ReasonGaveUp] + refused[day.ReasonQueue]
	}))
	row("agents' work, p99 until the first word", wait(day.Work, .99))
	row(fmt.Sprintf("a flood of %d is done after, median", flood(r.Plan)), func(s *day.SideReport) string {
		return brief(median(s.Clear))
	})
	row("preempted by people", count(func(s *day.SideReport) int { return s.Preempted }))
	row("answers begun and made again", count(func(s *day.SideReport) int { return s.Resets }))

	head("Throughput")
	row("answers an hour", func(s *day.SideReport) string {
		return fmt.Sprintf("%.0f", float64(s.Done())/s.Ended.Hours())
	})
	row("requests at the providers",
		count(func(s *day.SideReport) int { return s.Primary.Requests + s.Backup.Requests }))
	row("of them too many (429)", count(func(s *day.SideReport) int { return s.Primary.Refused + s.Backup.Refused }))
	row("of them in the outage (529)", count(func(s *day.SideReport) int { return s.Primary.Down + s.Backup.Down }))
	row("answered by the backup",
		count(func(s *day.SideReport) int { return s.Backup.Requests - s.Backup.Refused - s.Backup.Broken }))
	row("pauses by rate limits", onlyPawl(func(s *day.SideReport) int { return s.Pauses }))
	row("times that a breaker opened", onlyPawl(func(s *day.SideReport) int { return s.Opened }))

	head("Money")
	row("charged by the providers", func(s *day.SideReport) string { return dollars(s.Billed()) })
	row("booked in the ledger", func(s *day.SideReport) string {
		if s.Name != day.Pawl {
			return "-"
		}
		return dollars(s.Booked)
	})
	row("the budget of the day", func(s *day.SideReport) string { return limited(s, r.Plan.Limit.USD) })
	row("the job that runs away", func(s *day.SideReport) string { return dollars(s.Primary.Audit + s.Backup.Audit) })
	row("its budget", func(s *day.SideReport) string { return limited(s, r.Plan.AuditLimit.USD) })
	for _, s := range r.Sides {
		for _, n := range s.Notes {
			fmt.Fprintf(out, "  %s  the budget: %s %s\n", r.Plan.Clock(n.At), n.Of, n.Kind)
		}
	}
}

func answered(l *day.Lane) string { return fmt.Sprintf("%d of %d", l.Done, l.Asked) }

// onlyPawl formats a count that the other side doesn't have.
func onlyPawl(of func(*day.SideReport) int) func(*day.SideReport) string {
	return func(s *day.SideReport) string {
		if s.Name != day.Pawl {
			return "-"
		}
		return strconv.Itoa(of(s))
	}
}

func limited(s *day.SideReport, usd float64) string {
	if s.Name != day.Pawl {
		return "-"
	}
	return fmt.Sprintf("$%.2f", usd)
}

func over(w day.Waits, than time.Duration) (n int) {
	for _, s := range w {
		if s.Wait > than {
			n++
		}
	}
	return n
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[len(sorted)/2]
}

// flood returns the number of calls of a flood.
func flood(p *day.Plan) (n int) {
	for i := range p.Calls {
		if p.Calls[i].Task == day.Reindex {
			n++
		}
	}
	return n / max(len(p.Floods), 1)
}

// steps returns the number of points of a line in the chart: one for each ten minutes of a day,
// fewer if few people ask.
func steps(r *day.Report) int {
	const most, people = 144, 8 // per step, about
	return min(max(r.Sides[0].Lanes[day.Chat].Asked/people, 1), most)
}

// picture draws people's waits over the day: in each step the longest and the median.
func picture(r *day.Report) chart.Chart {
	p, n := r.Plan, steps(r)
	c := chart.Chart{
		Title: "How long people waited for the first word of an answer",
		Subtitle: fmt.Sprintf(
			"%d sessions at one rate-limited provider. Line: the longest wait in each %v; area: down to the median. "+
				"Logarithmic.",
			p.Sessions, brief(p.Length/time.Duration(n))),
		Opens: p.Opens, To: p.Length,
	}
	for i, f := range p.Floods {
		c.Bands = append(c.Bands, chart.Band{Name: "flood of background calls", From: f.From, To: f.From +
			max(r.Sides[0].Clear[i], r.Sides[1].Clear[i])})
	}
	c.Bands = append(c.Bands, chart.Band{Name: "provider fails", From: p.Outage.From, To: p.Outage.To},
		chart.Band{Name: "half the rate", From: p.Squeeze.From, To: p.Squeeze.To},
		chart.Band{Name: "runaway job", From: p.Runaway.From, To: p.Runaway.To})
	for _, s := range r.Sides {
		c.Lines = append(c.Lines, chart.Line{Name: s.Name, Points: points(n, p.Length, s.Lanes[day.Chat].Waits)})
	}
	return c
}

// points divides the day into n steps.
func points(n int, length time.Duration, waits day.Waits) (points []chart.Point) {
	step := length / time.Duration(n)
	in := make([]day.Waits, n)
	for _, w := range waits {
		i := min(int(w.At/step), n-1)
		in[i] = append(in[i], w)
	}
	for i, each := range in {
		points = append(points,
			chart.Point{At: step*time.Duration(i) + step/2, Typical: each.P(.5), Longest: each.Max()})
	}
	return points
}
