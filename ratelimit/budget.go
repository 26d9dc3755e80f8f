package ratelimit

import (
	"sync"
	"time"
)

// Labels say on whose account a call is made. All are optional.
type Labels struct {
	// Root is the session that Session is nested in, for a program that tells the two apart; empty: Session itself. Pawl's
	// agents don't: what they make calls for is in Session, and is the session of the outermost agent.
	Root     string
	Session  string
	Pipeline string
	Task     string
	Agent    string
	Kind     string // what the call is for: step, summary, …
	Provider string
	Model    string
}

// root returns the session on whose account everything is that is nested in it.
func (l *Labels) root() string {
	if l.Root != "" {
		return l.Root
	}
	return l.Session
}

// BudgetConfig says what a [Budget] limits. What is left out isn't limited, so the zero BudgetConfig limits nothing but
// recovery.
//
// A figure that makes no sense is brought into the documented range.
type BudgetConfig struct {
	// Global limits all calls together.
	Global Limit
	// Session limits each session by itself; see [Budget] for agents that are nested.
	Session Limit
	// Task limits each task by itself.
	Task Limit
	// Provider limits each provider by itself.
	Provider Limit
	// Recovery limits for each session the calls whose Request.Recovery is set: those without a session together. Tokens of
	// 0 are 1,000; less than 0: no limit. A call that reserves more than that at once is refused outright, so such calls
	// need a short prompt and a small limit of output. See also [Budget.Recovered].
	Recovery Limit

	// Sessions, Tasks and Providers have limits for single names, each in place of the one for all. An empty Limit says
	// that this name has none.
	Sessions  map[string]Limit
	Tasks     map[string]Limit
	Providers map[string]Limit

	// FairShare divides what Global allows among the sessions that are active: those with an open reservation, and those
	// that asked for one within Active. A session's part is what the sessions that aren't active have left of Global,
	// divided by the number of those that are. A session that has had its part is refused, with the scope [ScopeShare];
	// parts grow as sessions fall idle, and shrink as others come.
	FairShare bool
	// Active is how long a session counts as active after its last call; 0: 10 min.
	Active time.Duration

	// Location is where days, weeks and months begin; nil: UTC.
	Location *time.Location

	// Keep is how many names a scope remembers that have no open reservation; 0: 100,000, of about 350 bytes each. Past
	// that, the name that was used longest ago is forgotten. If it has spent something in its present period, which a
	// [Lifetime] always is, that is told with [BudgetForgotten], so that the host can [Budget.Seed] it when it comes back:
	// until then it begins at zero. Names with a limit of their own are kept.
	Keep int

	// OnEvent, if it isn't nil, is told of limits that are nearly or wholly used up, of spending without a price, and of
	// what was forgotten. It is called after the fact, outside all locks, in the goroutine whose call brought it about; so
	// calls of it may overlap. A panic of it is that of the method that told it; a Reserve that panics holds nothing.
	OnEvent func(BudgetEvent)
}

// Defaults of a BudgetConfig.
const (
	defaultRecovery  = 1000 // tokens
	defaultActive    = 10 * time.Minute
	defaultNamesKept = 100_000
)

// A Budget holds what may be spent against what is spent and what is reserved for calls that are under way.
//
// A call reserves what it may need at most before it is made ([Budget.Reserve]), asks for more as its answer grows
// ([Reservation.TopUp]), and says in the end what it used ([Reservation.Settle]). So at every admission spent plus reserved
// is within every limit, however many calls ask at once. What a call uses beyond what it reserved is booked in full, and
// may carry the spending above the limit; then nothing that adds to it is admitted until the period ends.
//
// Limits are looked at in this order: global, the session's share if FairShare is set, session, task, provider, recovery.
// A reservation holds in all of them or in none. A label that is empty is limited in no scope of its own: only Global covers
// every call.
//
// A call with a Root is limited in both sessions, and the root's spending covers everything that is nested in it, at any
// depth. Shares and recovery go by the root. An agent that works for another one makes its calls in the session of the
// outermost agent, which therefore covers them without a Root.
//
// What a call uses is booked in the period in which it ends, and what is open at the end of a period stays reserved in the
// next. A clock that is set back doesn't bring a period back; where the present one would then go on for more than two, it
// ends with the one that the clock shows, and what is spent counts until then.
//
// Make one with [NewBudget]. A Budget is safe for concurrent use and starts no goroutine. A nil *Budget limits nothing.
type Budget struct {
	// fixed at creation
	limits   [numScopes]bounds
	fair     bool
	active   time.Duration
	location *time.Location
	keep     int
	onEvent  func(BudgetEvent)

	mu       sync.Mutex                   // guards what follows
	named    [numScopes]map[string]bounds // limits of single names
	timeless bool                         // nothing depends on the time
	global   *account                     // nil: no limit
	tables   [numScopes]table
	shares   shares
	turn     uint64        // of the global limit: how many periods have begun
	seq      uint64        // of the newest claim
	freed    []*account    // whose claims may go on
	moved    chan struct{} // closed when a limit gets another period; made for who waits
	events   []BudgetEvent
}

// NewBudget returns a [Budget] with nothing spent.
func NewBudget(cfg BudgetConfig) *Budget {
	b := &Budget{
		fair:     cfg.FairShare,
		active:   cfg.Active,
		location: cfg.Location,
		keep:     cfg.Keep,
		onEvent:  cfg.OnEvent,
	}
	if b.active <= 0 {
		b.active = defaultActive
	}
	if b.location == nil {
		b.location = time.UTC
	}
	if b.keep <= 0 {
		b.keep = defaultNamesKept
	}
	if cfg.Recovery.Tokens == 0 {
		cfg.Recovery.Tokens = defaultRecovery
	}
	for scope, l := range map[Scope]Limit{
		ScopeGlobal: cfg.Global, ScopeSession: cfg.Session, ScopeTask: cfg.Task, ScopeProvider: cfg.Provider,
		ScopeRecovery: cfg.Recovery,
	} {
		b.limits[scope] = l.resolve()
	}
	for scope, limits := range map[Scope]map[string]Limit{
		ScopeSession: cfg.Sessions, ScopeTask: cfg.Tasks, ScopeProvider: cfg.Providers,
	} {
		b.named[scope] = make(map[string]bounds, len(limits))
		for name, l := range limits {
			b.named[scope][name] = l.resolve()
		}
	}
	if !b.limits[ScopeGlobal].none() {
		b.global = newAccount(ScopeGlobal, "", b.limits[ScopeGlobal], true)
		b.global.ends(b.global.resets(time.Now(), b.location))
	} else {
		b.fair = false
	}
	b.limits[ScopeShare] = Limit{}.resolve()
	if b.fair { // a share is a part of the global limit, and lasts as long
		b.limits[ScopeShare] = b.limits[ScopeGlobal]
	}
	b.timeless = !b.fair
	for scope, limit := range b.limits {
		b.timeless = b.timeless && limit.period == Lifetime
		for _, limit := range b.named[scope] {
			b.timeless = b.timeless && limit.period == Lifetime
		}
	}
	for scope := range b.tables {
		b.tables[scope] = table{accounts: make(map[string]*account), idle: list[account]{links: inIdle}}
	}
	b.shares.recent.links = inIdle
	return b
}

// An instant is a time in nanoseconds since 1970.
type instant int64

func (i instant) time() time.Time { return time.Unix(0, int64(i)) }

// now returns the time, if it makes a difference.
func (b *Budget) now() instant {
	if b.timeless {
		return 0
	}
	return instant(time.Now().UnixNano())
}

// unlock gives up the lock and tells what has happened under it.
func (b *Budget) unlock() {
	events := b.events
	b.events = nil
	b.mu.Unlock()
	for _, e := range events {
		b.onEvent(e)
	}
}

// unlockFor is unlock, and doesn't leave r open if onEvent panics.
func (b *Budget) unlockFor(r *Reservation) {
	if len(b.events) == 0 {
		b.mu.Unlock()
		return
	}
	told := false
	defer func() {
		if !told {
			r.Settle(0, 0)
		}
	}()
	b.unlock()
	told = true
}

// tell has an event told once the lock is given up.
func (b *Budget) tell(e BudgetEvent) {
	if b.onEvent != nil {
		b.events = append(b.events, e)
	}
}
