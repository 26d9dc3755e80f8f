package budget

import (
	"sync"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// Names say which session, task, provider and so on a call is booked on. All are optional.
type Names struct {
	Session  string
	User     string // the person that the call is made for
	Tenant   string // the customer of the host that the user belongs to, who pays
	Pipeline string
	Task     string
	Agent    string
	Kind     string // what the call is for: step, summary, …
	Provider string
	Model    string
	// Extra are further labels of the host's choice, in any form: a [Ledger] keeps them, and no
	// limit depends on them.
	Extra string
}

// Config says what a [Budget] limits. A zero field limits nothing, so the zero Config limits only
// recovery.
//
// An invalid figure is adjusted to the documented range.
type Config struct {
	// Global limits all calls together.
	Global Limit
	// Tenant, if it isn't nil, returns the limit of a tenant, as User does of a user.
	Tenant func(tenant string) Limit
	// User, if it isn't nil, returns the limit of a user; an empty [Limit] is none. It is called
	// for each call that has a user, so a limit that it changes applies from the next call on. It
	// must be quick, may be called from several goroutines at a time, and is called without a lock.
	// If it panics, the method that called it panics, and holds nothing. A limit that
	// [Budget.SetLimit] has set for a user replaces it.
	User func(user string) Limit
	// Session limits each session separately; see [Budget] for subagents.
	Session Limit
	// Task limits each task separately.
	Task Limit
	// Provider limits each provider separately.
	Provider Limit
	// Recovery limits, for each session, the calls whose ReserveRequest.Recovery is set; calls
	// without a session share one limit. Tokens of 0 means 1,000; less than 0: no limit. A call
	// that reserves more than the limit at once is always rejected, so such calls need a short
	// prompt and a small output limit. See also [Budget.Recovered].
	Recovery Limit

	// Sessions, Tasks and Providers have limits for single names; each replaces the general limit.
	// An empty Limit means that this name has no limit.
	Sessions  map[string]Limit
	Tasks     map[string]Limit
	Providers map[string]Limit

	// FairShare divides the Global limit among the active sessions: those with an open reservation,
	// and those that requested one within 10 min. A session's share is what the inactive sessions
	// haven't used of Global, divided by the number of active sessions. A session that has used its
	// share is rejected with the scope [ScopeShare]. Shares grow as sessions become inactive, and
	// shrink as others become active.
	FairShare bool

	// Location is the time zone of days, weeks and months; nil: UTC.
	Location *time.Location

	// Keep is how many names without an open reservation each scope remembers; 0: 100,000, of about
	// 350 bytes each. Beyond that, the name that was used longest ago is forgotten, and starts at
	// zero if it is used again. If it has spent something in its present period (a [Lifetime] never
	// ends), this is reported, so that the host can [Budget.Seed] it. Names
	// with a limit of their own are kept.
	Keep int

	// AllowUnknownPrices admits calls whose price isn't known under a limit in money, as long as
	// what was spent is below it. Their money isn't counted, which is reported: see the event
	// "unpriced" and Status.Unpriced. By default they are rejected with an *[Error].
	AllowUnknownPrices bool

	// OnEvent, if it isn't nil, is called when a limit is nearly or completely used up, when
	// spending has no price, and when a name was forgotten. It is called afterwards, without a lock
	// held, in the goroutine whose call caused the event, so calls may overlap. If it panics, the
	// method that called it panics; a Reserve that panics holds nothing.
	OnEvent func(Event)
}

// Defaults of a Config.
const (
	defaultRecovery  = 1000             // tokens
	sessionActive    = 10 * time.Minute // after its last call, for FairShare
	defaultNamesKept = 100_000
)

// A Budget compares limits with what was spent and what is reserved for calls in progress.
//
// A call reserves the most that it may need before it is made ([Budget.Reserve]), reserves more as
// its answer grows ([Reservation.TopUp]), and reports in the end what it used
// ([Reservation.Settle]). So at every admission spent plus reserved is within every limit, however
// many calls are admitted at once. What a call uses beyond its reservation is booked in full, and
// may exceed the limit; then no further call is admitted under that limit until the period ends.
//
// Limits are checked in this order: global, the session's share if FairShare is set, tenant, user,
// session, task, provider, recovery. A reservation is made in all of them or in none. An empty
// label isn't limited in its scope: only Global covers every call.
//
// A subagent makes its calls in the session of the outermost agent.
//
// A call's usage is booked in the period in which it ends, and reservations that are open at the
// end of a period stay reserved in the next. Setting the clock back doesn't reopen an earlier
// period; if the present period would then last for more than two, it ends with the one that the
// clock shows, and its spending counts until then.
//
// Make one with [New]. A Budget is safe for concurrent use and starts no goroutine. A nil *Budget
// limits nothing.
type Budget struct {
	// fixed at creation
	limits   [numScopes]bounds
	fair     bool
	active   time.Duration // how long after its last call a session shares
	location *time.Location
	keep     int
	onEvent  func(Event)
	tenant   func(string) Limit // nil: no tenant has a limit
	user     func(string) Limit // the same for users
	unpriced bool               // calls without a price are admitted under limits in money

	mu      sync.Mutex                   // guards what follows
	named   [numScopes]map[string]bounds // limits for single names
	present [2]givenLimit                // of the call under way
	global  *account                     // nil: no limit
	tables  [numScopes]table
	shares  shares
	turn    uint64        // how many periods of the global limit have begun
	seq     uint64        // sequence number of the newest claim
	freed   []*account    // accounts whose claims may proceed
	moved   chan struct{} // closed when a limit gets another period; made when a claim waits
	events  []Event
}

// New returns a [Budget] with nothing spent.
func New(cfg Config) *Budget {
	b := &Budget{
		fair:     cfg.FairShare,
		active:   sessionActive,
		location: cfg.Location,
		keep:     cfg.Keep,
		onEvent:  cfg.OnEvent,
		tenant:   cfg.Tenant,
		user:     cfg.User,
		unpriced: cfg.AllowUnknownPrices,
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
		ScopeRecovery: cfg.Recovery, ScopeTenant: {}, ScopeUser: {},
	} {
		b.limits[scope] = l.resolve()
	}
	for scope, limits := range map[Scope]map[string]Limit{
		ScopeSession: cfg.Sessions, ScopeTask: cfg.Tasks, ScopeProvider: cfg.Providers,
		ScopeTenant: nil, ScopeUser: nil,
	} {
		b.named[scope] = make(map[string]bounds, len(limits))
		for name, l := range limits {
			b.named[scope][name] = l.resolve()
		}
	}
	if !b.limits[ScopeGlobal].none() {
		b.global = newAccount(ScopeGlobal, "", b.limits[ScopeGlobal], true)
		b.global.end = b.global.resets(time.Now(), b.location)
	} else {
		b.fair = false
	}
	b.limits[ScopeShare] = Limit{}.resolve()
	if b.fair { // a share is a part of the global limit and has its period
		b.limits[ScopeShare] = b.limits[ScopeGlobal]
	}
	for scope := range b.tables {
		b.tables[scope] = table{accounts: make(map[string]*account), idle: list.List[account]{Links: inIdle}}
	}
	b.shares.recent.Links = inIdle
	return b
}

// unlock releases the lock and then reports the events that happened under it.
func (b *Budget) unlock() {
	events := b.events
	b.events = nil
	b.mu.Unlock()
	for _, e := range events {
		b.onEvent(e)
	}
}

// unlockFor is unlock, and withdraws r if onEvent panics.
func (b *Budget) unlockFor(r *Reservation) {
	if len(b.events) == 0 {
		b.mu.Unlock()
		return
	}
	delivered := false
	defer func() {
		if !delivered {
			r.Settle(0, 0)
		}
	}()
	b.unlock()
	delivered = true
}

// emit queues an event, to be reported when the lock is released.
func (b *Budget) emit(e Event) {
	if b.onEvent != nil {
		b.events = append(b.events, e)
	}
}

// A givenLimit is the limit of a tenant or a user, as the host's function gave it for the call
// under way.
type givenLimit struct {
	scope Scope
	name  string // empty: none
	bounds
}

// given asks the host for the limits of the tenant and the user. It is called without the lock.
func (b *Budget) given(l *Names) [2]givenLimit {
	ask := func(of func(string) Limit, scope Scope, name string) givenLimit {
		if of == nil || name == "" {
			return givenLimit{}
		}
		return givenLimit{scope, name, of(name).resolve()}
	}
	return [...]givenLimit{ask(b.tenant, ScopeTenant, l.Tenant), ask(b.user, ScopeUser, l.User)}
}

// setGiven makes these the limits of their tenant and user, unless those have a limit of their own.
func (b *Budget) setGiven(limits [2]givenLimit, now time.Time) {
	b.present = limits
	for i := range limits {
		l := &limits[i]
		if _, own := b.named[l.scope][l.name]; own || l.name == "" {
			continue
		}
		if a := b.lookup(l.scope, l.name, now); a != nil && a.bounds != l.bounds {
			b.rebind(a, l.bounds, now)
		}
	}
}
