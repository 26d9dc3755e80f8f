package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/tools"
)

// A SumConfig says which amounts a [Sum] adds up, and how much they may be together.
type SumConfig struct {
	Tool string // the name of the tool whose calls are counted
	// Field is the member of the tool's input that has the amount: a whole number in the smallest
	// unit, such as cents, written with digits alone. A call whose amount is missing, negative, has
	// a fraction or an exponent, is a text, or is above 9,223,372,036,854,775,807 is denied.
	Field string
	// Unit is the member that has the unit of the amount, such as its currency. Each unit has a sum
	// of its own, so let the tool's schema list the units. It has 1 to 16 letters and digits, in
	// any case; a call with another one is denied. Empty: all amounts have the same unit.
	Unit string
	// Limit is how much the amounts may be together, in the smallest unit; 0: each call asks.
	Limit int64
	// Window is how long an amount counts, from the start of its call; before that, it counts as
	// long as the call waits for a person. 0: as long as the Store exists, or 24 h without a Store.
	Window time.Duration
	// PerUser adds up the calls for each Input.User, in all sessions; a run without a user is
	// denied. Users of different tenants need different names, or a Store for each tenant. By
	// default each session has a sum. The calls of its subagents, of its team and of the nodes of
	// its plans count for it.
	PerUser bool
	// Store keeps the amounts. Those that processes share, and that survive a restart, are
	// Store.Allowances of agent/journal/sqlite and agent/journal/postgres, under a name of their
	// own. nil: in memory, for this process, and at most 100,000 sums at a time: calls for a
	// further one are denied.
	Store ratelimit.AllowanceStore
}

// A Sum asks about calls whose amounts, with those of earlier calls, are above a limit. It reserves
// the amount before a call runs, so calls that come at the same time, in one reply, in several
// sessions or processes, can't be below the limit alone and above it together. No standing rule
// answers it. What a person approves counts, too.
//
//	sum, err := policy.NewSum(policy.SumConfig{Tool: "refund", Field: "cents", Unit: "currency",
//		Limit: 50_00, Window: 24 * time.Hour, PerUser: true, Store: store.Allowances("refunds")})
//	…
//	agent.Config{Policies: []tools.Policy{sum.Policy()}, Hooks: []agent.Hooks{sum.Hooks()}, …}
//
// The amount of a call counts if the tool has run or may have: also if the call failed, was
// canceled, or is in doubt, and if a person answered in its place. The hooks give back the amount
// of a call that surely didn't run. Without them, or if the Store fails right then, or the session
// is deleted while the call waits for a person, it counts for good: a Sum may count too much, but
// not too little.
//
// Sums with the same Tool, Field, Unit, Window and PerUser share their amounts in a Store. If the
// Store fails, calls are denied. A Sum is safe for concurrent use.
type Sum struct {
	cfg  SumConfig
	name string // of what is added up, at the beginning of keys
}

// NewSum returns a Sum. The error says what is wrong in the configuration.
func NewSum(cfg SumConfig) (*Sum, error) {
	switch {
	case cfg.Tool == "" || cfg.Field == "":
		return nil, invalid("a Sum needs the Tool and the Field that has the amount; Tool is %q and Field %q",
			cfg.Tool, cfg.Field)
	case cfg.Unit == cfg.Field:
		return nil, invalid("SumConfig.Unit is %q, as Field is; name the member that has the unit, or none", cfg.Unit)
	case cfg.Limit < 0:
		return nil, invalid("SumConfig.Limit is %d; give 0 or more, in the smallest unit", cfg.Limit)
	case cfg.Window < 0:
		return nil, invalid("SumConfig.Window is %v; give 0 or more", cfg.Window)
	}
	if cfg.Store == nil {
		cfg.Store = ratelimit.NewAllowanceMemory(0) // it keeps a key as long as something counts
		cfg.Window = cmp.Or(cfg.Window, defaultWindow)
	}
	return &Sum{cfg, hashOf(cfg.Tool, cfg.Field, cfg.Unit, cfg.Window.String(), strconv.FormatBool(cfg.PerUser))}, nil
}

// defaultWindow is SumConfig.Window without a Store.
const defaultWindow = 24 * time.Hour

// hashOf returns a text of 32 bytes that stands for some texts.
func hashOf(texts ...string) string {
	data, _ := json.Marshal(texts) // of texts
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Policy returns the policy, for Config.Policies of an agent.
func (s *Sum) Policy() tools.Policy { return s.decide }

// Hooks returns the hooks that give back the amounts of calls that didn't run, for Config.Hooks of
// the same agent.
func (s *Sum) Hooks() agent.Hooks {
	return agent.Hooks{Name: "policy.Sum", Observer: true, AfterTool: s.afterTool}
}

// key returns the key of the sum that a call counts for, or what is wrong.
func (s *Sum) key(ctx context.Context, session, user string) (key, problem string) {
	if !s.cfg.PerUser {
		return "sum/" + s.name + "/" + hashOf(cmp.Or(work.Outermost(ctx), session)), ""
	}
	if user == "" {
		return "", "what calls of this tool come to is added up for each user, and the run has none"
	}
	return "sum/" + s.name + "/" + hashOf(user), ""
}

func (s *Sum) decide(ctx context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	if d.Name() != s.cfg.Tool {
		return tools.Verdict{}
	}
	deny := func(why string) tools.Verdict { return tools.Verdict{Effect: tools.Deny, Reason: why} }
	key, problem := s.key(ctx, c.Session, c.User)
	var amount int64
	var unit string
	if problem == "" {
		amount, unit, problem = readAmount(c.Input, s.cfg.Field, s.cfg.Unit)
	}
	if problem != "" {
		return deny(problem)
	}
	e := entry{call: hashOf(c.Session, c.ID), fence: c.Fence, unit: unit}
	window := s.cfg.Window
	if !c.Starting { // it may wait for a person
		window = 0
	}
	var before int64
	err := s.cfg.Store.Update(ctx, key, func(st ratelimit.AllowanceState, clock time.Time) (
		ratelimit.AllowanceState, error) {
		now := current(&st, clock)
		if before = others(st.Open, &e); !c.Starting && !fits(before, amount, s.cfg.Limit) {
			return st, errAbove
		}
		return reserve(st, &e, amount, now, window)
	})
	switch {
	case errors.Is(err, errFull):
		return deny("the calls of this tool have too many units to be added up")
	case err != nil && !errors.Is(err, errAbove):
		return deny("what the calls of this tool come to isn't known: its store fails")
	case fits(before, amount, s.cfg.Limit):
		return tools.Verdict{}
	}
	return tools.Verdict{Effect: tools.Ask, Reason: s.reason(before, amount, unit)}
}

// reason says to a person why the call is above the limit.
func (s *Sum) reason(before, amount int64, unit string) string {
	whose, in := "in this session", ""
	if s.cfg.PerUser {
		whose = "for this user"
	}
	if s.cfg.Window > 0 {
		in = " in " + s.cfg.Window.String()
	}
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("with this call of %d%s, %s would come to more than %d%s%s %s; so far it is %d "+
		"(%s in the smallest unit)", amount, unit, s.cfg.Tool, s.cfg.Limit, unit, in, whose, before, s.cfg.Field)
}

// storeDeadline is how long a store may take to give back an amount.
const storeDeadline = 10 * time.Second

// afterTool gives back the amount of a call that surely didn't run.
func (s *Sum) afterTool(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
	if c.Name != s.cfg.Tool || c.Ran || r.Status == tools.Answered {
		return nil
	}
	key, problem := s.key(ctx, c.Session, c.User)
	if problem != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeDeadline)
	defer cancel()
	e := entry{call: hashOf(c.Session, c.ID), fence: c.Fence}
	err := s.cfg.Store.Update(ctx, key, func(st ratelimit.AllowanceState, clock time.Time) (
		ratelimit.AllowanceState, error) {
		return giveBack(st, &e, current(&st, clock))
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// fits reports whether an amount, with those before it, is within a limit. None is negative.
func fits(before, amount, limit int64) bool { return before <= limit && amount <= limit-before }

// invalidAmount says what an amount has to be.
func invalidAmount(field, why string) string {
	return fmt.Sprintf("%q %s; give a whole number from 0 on, in the smallest unit, such as cents: 4990 for 49.90",
		field, why)
}

// readAmount returns the amount of a call and its unit in capitals, or what is wrong with them. The
// input is canonical: an object in which no member is there twice.
func readAmount(input json.RawMessage, field, unitField string) (amount int64, unit, problem string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return 0, "", "the input is no object, so it has no amount"
	}
	raw, ok := members[field]
	if !ok {
		return 0, "", invalidAmount(field, "is missing")
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, "", invalidAmount(field, "is no such number")
		}
	}
	amount, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, "", invalidAmount(field, "is too large")
	}
	if unitField == "" {
		return amount, "", ""
	}
	if json.Unmarshal(members[unitField], &unit) != nil || !isUnit(unit) {
		return 0, "", fmt.Sprintf("%q is no unit; give one of 1 to 16 letters and digits, such as EUR", unitField)
	}
	return amount, strings.ToUpper(unit), ""
}

const maxUnit = 16

func isUnit(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= maxUnit
}
