package terminal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A state is what the state line says of a session.
type state struct {
	mode, model string
	spent       provider.Money
	unpriced    bool  // some of the cost isn't known
	used        int64 // tokens of the last request and its reply
}

// stands prints the state line, above a prompt or a question in a terminal.
func (u *ui) stands(ctx context.Context) {
	if u.keys.file == nil {
		return
	}
	if info, err := u.session.Info(ctx); err == nil { // a new session has none
		u.mode, u.spent, u.unpriced = info.Mode, info.Cost, info.Unpriced
	}
	u.refresh()
	u.out.note("%s", u.stateLine())
}

// inMode returns the mode of the next call.
func (u *ui) inMode() string {
	return cmp.Or(u.cfg.Input.Mode, u.mode, append(u.hub.Agent().Modes(), "")[0])
}

// stateLine returns the state line, as long as the window permits.
func (u *ui) stateLine() string {
	var info provider.ModelInfo
	if u.cfg.Provider != nil {
		info, _ = provider.InfoOf(u.cfg.Provider, u.model)
	}
	used := fmt.Sprintf("%dk", (u.used+999)/1000)
	long := "context " + used
	if n := int64(info.Window); n > 0 {
		used = fmt.Sprintf("%d %%", (100*u.used+n-1)/n)
		long += fmt.Sprintf(" of %dk, %s", n/1000, used)
	}
	unknown := u.unpriced || u.spent == 0 && u.cfg.Provider != nil && info.Prices == nil
	mode, cost := u.inMode(), money(u.spent, unknown)
	text := joined(mode, cmp.Or(u.model, info.ID), cost, long)
	if utf8.RuneCountInString(text) >= u.out.width {
		text = joined(mode, cost, used)
	}
	return short(text, u.out.width-1)
}

// silence is after how long a line says that the model hasn't begun to answer.
const silence = 20 * time.Second

// noteCall notes when the model is called, and when it begins to answer.
func (u *ui) noteCall(ev agent.Event) {
	switch ev := ev.(type) {
	case *agent.StepStarted, *agent.Reset:
		u.calling = time.Now()
	case *agent.Waiting:
		if ev.Call == "" { // it is called after that
			u.calling = time.Now()
			if ev.Until.After(u.calling) {
				u.calling = ev.Until
			}
		}
	case *agent.TextDelta, *agent.ReasoningDelta, *agent.PartAdded, *agent.CallBegun, *agent.Replied,
		*machine.StepFailed, *agent.RunEnded:
		u.calling = time.Time{}
	}
}

// saySilence says once for each call that the model hasn't begun to answer.
func (u *ui) saySilence() {
	if !u.running || u.calling.IsZero() || time.Since(u.calling) < silence {
		return
	}
	u.calling = time.Time{}
	name := u.model
	if u.cfg.Provider != nil {
		info, _ := provider.InfoOf(u.cfg.Provider, u.model)
		name = joined(info.Provider, cmp.Or(u.model, info.ID))
	}
	if name != "" {
		name = " (" + name + ")"
	}
	key := "Esc"
	if u.keys.file == nil { // which isn't a terminal
		key = "Ctrl-C"
	}
	u.out.note("%s", short(fmt.Sprintf("… the model%s hasn't begun to answer for %.0f s. %s stops the request; then send "+
		"it again, or use another model.", name, silence.Seconds(), key), 300))
}

// joined joins the parts of a line that aren't empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// money returns a cost as people read it.
func money(cost provider.Money, unpriced bool) string {
	if unpriced && cost == 0 {
		return "cost unknown"
	}
	return map[bool]string{true: "over "}[unpriced] + fmt.Sprintf("$%.2f", float64(cost)/float64(provider.USD))
}
