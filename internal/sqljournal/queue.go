package sqljournal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// The states of a row of the queue. A delayed one has its due, a claimed one that of its claim's
// end; the others have none.
const (
	delayed = iota
	ready
	claimed // and not yet started
	started
)

const (
	// readyAtOnce is how many rows that have become due are made ready in a transaction.
	readyAtOnce = 1000
	// mostLooked is how many rows of a group and an agent [journal.Claim].Full looks at, and how
	// many sessions that are due are read.
	mostLooked = "10000"
	// putOff is for how many nanoseconds a session isn't claimed that a transaction has locked.
	putOff = "1000000000"
)

// queueing are the statements of a [journal.Queue].
type queueing struct {
	enter, leave, later, claim, tries, delay string
	claiming, lock, putOff                   string
	ready, depths                            string
	due                                      [2]string // before the time, and after it
}

// now returns an expression for the time, as a subquery that is evaluated once. param is the
// parameter for what [Store].clock returns.
func (d Dialect) now(param string) string {
	if d.Now == "" {
		return "(SELECT " + param + ")"
	}
	return "(SELECT coalesce(CAST(" + param + " AS bigint), " + d.Now + "))"
}

// clock returns the time of this process, unless the database has its own.
func (s *Store) clock() *int64 {
	if s.dialect.Now != "" {
		return nil
	}
	return Nanos(time.Now())
}

// Wanted is an expression for when a session has work for a worker: see [journal.Queue]. Sessions
// that have none are left out by a condition, which is part of the index.
func Wanted(greatest string) (at, condition string) {
	return "CASE WHEN status = 'running' OR status = 'paused' AND inbox > 0 THEN coalesce(until, 0) " +
			"ELSE " + greatest + "(expires, coalesce(until, 0)) END",
		"kind = '' AND parent = '' AND status <> 'queued' AND " +
			"(status = 'running' OR status = 'paused' AND inbox > 0 OR expires IS NOT NULL)"
}

func (d Dialect) queueing(columns, from, now string) queueing {
	at, condition := Wanted(d.Greatest)
	skip := ""
	if d.Lock != "" {
		skip = d.Lock + " SKIP LOCKED"
	}
	held := "CASE WHEN d.state = 2 THEN (SELECT s.until FROM @sessions s WHERE s.id = d.session AND s.owner <> '' AND " +
		"s.until > " + d.now("?1") + ") END"
	return queueing{
		enter: `INSERT INTO @queue (session, agent, grp, precedence, at, state, due, fence, tries)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0) ON CONFLICT (session) DO UPDATE SET agent = excluded.agent,
			grp = excluded.grp, precedence = excluded.precedence, at = excluded.at, state = excluded.state,
			due = excluded.due, fence = 0, tries = 0`,
		leave:    "DELETE FROM @queue WHERE session = ?1",
		claiming: d.Claiming,
		claim:    "UPDATE @queue SET state = 2, due = ?2, fence = ?3 WHERE session = ?1 AND state = 1",
		lock:     columns + d.Updated + ", " + now + from + "s.name = ?1" + skip,
		later:    "UPDATE @queue SET state = 0, due = ?2 WHERE session = ?1 AND state = 1",
		putOff: "UPDATE @queue SET state = 0, due = " + d.now("?2") + " + " + putOff + " WHERE session = (SELECT " +
			"session FROM @queue WHERE session = ?1 AND state = 1" + skip + ")",
		tries: "SELECT tries FROM @queue WHERE session = ?1 AND fence = ?2 AND state < 3",
		delay: "UPDATE @queue SET state = 0, due = ?2, tries = ?3 WHERE session = ?1",
		// held is of one reading of the clock: a row that is claimed must have its due
		ready: "WITH d AS MATERIALIZED (SELECT session, state FROM @queue WHERE due <= " + d.now("?1") +
			" ORDER BY due LIMIT " + strconv.Itoa(readyAtOnce) + skip + "), h AS MATERIALIZED (SELECT d.session, " + held +
			" AS until FROM d) UPDATE @queue AS q SET due = h.until, " +
			"state = CASE WHEN h.until IS NULL THEN 1 ELSE 2 END FROM h WHERE q.session = h.session",
		depths: `SELECT agent, grp, count(*) FILTER (WHERE state < 3), count(*) FILTER (WHERE state = 3),
			count(*) FILTER (WHERE state < 3 AND at > ` + d.now("?1") + `),
			min(at) FILTER (WHERE state < 3 AND at <= ` + d.now("?1") + `) FROM @queue GROUP BY agent, grp
			ORDER BY agent, grp`,
		// without a limit a planner may think that there are many
		due: [2]string{"SELECT * FROM (" + columns + d.Updated + ", 0" + from + condition + " AND " + at + " <= ",
			" ORDER BY " + at + " LIMIT " + mostLooked + ") AS d"},
	}
}

// first returns a statement for what a claim takes now: one row with the columns of scanRow, whose
// meaning scanFirst knows. The groups are found one by one, by an index, from the one whose turn it
// is. without are the ids of sessions that it leaves out.
func (s *Store) first(claim *journal.Claim, without []int64) (query, now string, c *conditions) {
	c = &conditions{store: s}
	now = s.dialect.now(c.param(s.clock()))
	agents, _ := json.Marshal(claim.Agents)
	after := fmt.Sprintf(s.dialect.Text, c.param(claim.After))
	least := func(more string) string { // the first group that has something ready
		return "(SELECT min((SELECT r.grp FROM @queue r WHERE r.state = 1 AND r.agent = a.agent" + more +
			" ORDER BY r.grp LIMIT 1)) FROM a)"
	}
	next, room := least(" AND r.grp > g.grp"), ""
	if claim.PerGroup > 0 {
		most := c.param(claim.PerGroup)
		room = " AND (g.grp = '' OR (SELECT count(*) FROM (SELECT 1 FROM @queue b WHERE b.state >= 2 AND " +
			"b.grp = g.grp LIMIT " + most + ") AS n) < " + most + ")"
	}
	free := ""
	if len(without) > 0 {
		ids, _ := json.Marshal(without)
		free = " AND r.session NOT IN (SELECT CAST(e.value AS bigint) FROM " +
			fmt.Sprintf(s.dialect.List, c.param(string(ids))) + ")"
	}
	full := ""
	if labels := storableLabels(claim.Full); len(labels) > 0 {
		pairs, _ := json.Marshal(labels)
		full = fmt.Sprintf(s.dialect.Labeled, c.param(string(pairs)))
	}
	one := "(SELECT (" + best(free, full, "session") + ") FROM a)"
	if len(claim.Agents) > 1 { // a join would read more than these
		one = "(SELECT x.session FROM (SELECT (" + best(free, full, "session") + ") AS session, (" +
			best(free, full, "precedence") + ") AS precedence, (" + best(free, full, "at") +
			") AS at FROM a) AS x WHERE x.session IS NOT NULL ORDER BY x.precedence DESC, x.at, x.session LIMIT 1)"
	}
	query = `WITH RECURSIVE a (agent) AS (SELECT e.value FROM ` + fmt.Sprintf(s.dialect.List, c.param(string(agents))) +
		" LIMIT " + strconv.Itoa(len(claim.Agents)) + `), -- which tells a planner how many there are
		g (n, grp, lap) AS (
			SELECT 0, ` + after + `, 0
			UNION ALL
			SELECT g.n + 1, coalesce(` + next + `, CASE WHEN g.lap = 0 THEN ` + least("") + ` END),
				CASE WHEN ` + next + ` IS NULL THEN 1 ELSE g.lap END
			FROM g WHERE g.grp IS NOT NULL AND (g.n = 0 OR g.lap = 0 OR g.grp < ` + after + `)
		),
		p (session) AS (
			SELECT f.session FROM (
				SELECT ` + one + ` AS session FROM g WHERE g.n > 0 AND g.grp IS NOT NULL AND (g.lap = 0 OR g.grp <= ` + after + `)` + room + `
			) AS f WHERE f.session IS NOT NULL LIMIT 1
		)
		SELECT coalesce(q.session, 0), coalesce(s.name, ''), coalesce(q.agent, ''), '[]', '', coalesce(q.grp, ''), '{}', '',
			NULL, q.at, 0, 0, CASE WHEN EXISTS (
			SELECT 1 FROM (SELECT d.due FROM @queue d WHERE d.due <= ` + now + ` ORDER BY d.due LIMIT 1) AS e)
			THEN 1 ELSE 0 END, coalesce(q.precedence, 0), '', NULL, 0, 0, 0
		FROM (SELECT 1 AS one) AS o LEFT JOIN p ON 1 = 1 LEFT JOIN @queue q ON q.session = p.session
			LEFT JOIN @sessions s ON s.id = q.session`
	return strings.ReplaceAll(query, "@", s.dialect.Prefix), now, c
}

// storableLabels returns those that a session can have, each as its key and its value.
func storableLabels(labels []journal.Label) (pairs [][2]string) {
	for _, l := range labels {
		if isStorable(l) {
			pairs = append(pairs, [2]string{l.Key, l.Value})
		}
	}
	return pairs
}

// best returns a statement for a column of the first session of the agent a.agent and the group
// g.grp. free is one more condition, and full what must not be, if there is that.
func best(free, full, column string) string {
	const order = " ORDER BY r.precedence DESC, r.at, r.session LIMIT "
	from := " FROM @queue r WHERE r.state = 1 AND r.agent = a.agent AND r.grp = g.grp" + free + order
	if full == "" {
		return "SELECT r." + column + from + "1"
	}
	return "SELECT r." + column + " FROM (SELECT r.session, r.precedence, r.at" + from + mostLooked +
		") AS r WHERE NOT " + full + order + "1"
}

// scanFirst reads the row of first, with the session's id, and whether something has become due.
func scanFirst(scan func(...any) error) (first journal.Queued, id int64, due bool, err error) {
	r, err := scanRow(scan)
	if err != nil {
		return first, 0, false, err
	}
	first = journal.Queued{Session: r.Session, Due: dueTime(r.Due),
		Place: journal.Place{Agent: r.Status, Group: r.Title, Precedence: int(int64(r.Fence))}}
	return first, r.id, r.Inbox > 0, nil
}

// dueTime returns the time of the column at, which is 0 for the zero time.
func dueTime(t time.Time) time.Time {
	if t.UnixNano() == 0 {
		return time.Time{}
	}
	return t
}

// Due is the method of [journal.Queue].
func (s *Store) Due(ctx context.Context, claim journal.Claim, take func(journal.Head) bool) (journal.Queued, error) {
	if err := claim.Validate(); err != nil {
		return journal.Queued{}, err
	}
	if err := contextError(ctx, "look for what is due in", "the queue"); err != nil {
		return journal.Queued{}, err
	}
	query, now, c := s.first(&claim, nil)
	first, due, err := s.look(ctx, query+" UNION ALL "+s.q.queueing.due[0]+now+s.q.queueing.due[1], c.args,
		take)
	if err != nil || !due {
		return first, err
	}
	if err := s.makeReady(ctx); err != nil {
		return journal.Queued{}, err
	}
	query, _, c = s.first(&claim, nil)
	first, _, err = s.look(ctx, query, c.args, take)
	return first, err
}

// look returns what a statement that begins with first has found. take gets the heads after it.
func (s *Store) look(ctx context.Context, query string, args []any, take func(journal.Head) bool) (
	first journal.Queued, due bool, err error) {
	begun := false
	err = s.db.Query(ctx, query, args, func(scan func(...any) error) (err error) {
		if !begun {
			begun = true
			first, _, due, err = scanFirst(scan)
			return err
		}
		r, err := scanRow(scan)
		if r == nil {
			return err
		}
		if err == nil && !take(r.Head) { // a damaged session harms no other
			return ErrStop
		}
		return nil
	})
	return first, due, err
}

// makeReady makes ready what has become due.
func (s *Store) makeReady(ctx context.Context) error {
	for {
		var n int64
		err := s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
			result, err := tx.ExecContext(ctx, s.q.queueing.ready, s.clock())
			if err == nil {
				n, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || n < readyAtOnce {
			return err
		}
	}
}

// Claim is the method of [journal.Queue]. It is one transaction, and one claim is made at a time.
func (s *Store) Claim(ctx context.Context, claim journal.Claim, owner string, ttl time.Duration) (
	q journal.Queued, l journal.Lease, err error) {
	if err := cmp.Or(claim.Validate(), journal.ValidateLease("s", owner, ttl)); err != nil {
		return q, l, err
	}
	if err := contextError(ctx, "claim from", "the queue"); err != nil {
		return q, l, err
	}
	var due bool
	take := func(anyway bool) error {
		return s.db.Write(ctx, func(ctx context.Context, tx Tx) (err error) {
			q, l, due, err = s.claim(ctx, tx, &claim, owner, ttl, anyway)
			return err
		})
	}
	if err = take(false); err == nil && due {
		if err = s.makeReady(ctx); err == nil {
			err = take(true) // others may have become due meanwhile
		}
	}
	if err != nil {
		return journal.Queued{}, journal.Lease{}, err
	}
	return q, l, nil
}

// claim takes the first session that nobody has leased, and that no other transaction has locked:
// all claims wait for this one, so it waits for nothing. If something has become due, it takes
// none; anyway says that it takes the first one that is ready all the same.
func (s *Store) claim(ctx context.Context, tx Tx, claim *journal.Claim, owner string, ttl time.Duration, anyway bool) (
	q journal.Queued, l journal.Lease, due bool, err error) {
	if s.q.queueing.claiming != "" {
		if _, err := tx.ExecContext(ctx, s.q.queueing.claiming); err != nil {
			return q, l, false, err
		}
	}
	var locked []int64
	for {
		var id int64
		query, _, c := s.first(claim, locked)
		q, id, due, err = scanFirst(tx.QueryRowContext(ctx, query, c.args...).Scan)
		if err != nil || due && !anyway || q.Session == "" {
			return journal.Queued{}, l, due, err
		}
		at, err := s.lockBy(ctx, tx, s.q.queueing.lock, q.Session)
		if err == nil && !at.exists() { // another transaction has it, or it was deleted meanwhile
			locked = append(locked, id)
			if _, err := tx.ExecContext(ctx, s.q.queueing.putOff, id, s.clock()); err != nil {
				return q, l, false, err
			}
			continue
		}
		var later time.Time
		switch {
		case errors.Is(err, errDamaged): // it harms no other
			later = at.now.Add(journal.QueueDelay(math.MaxInt))
		case err != nil:
			return journal.Queued{}, l, false, err
		case at.Owner != "" && at.now.Before(at.Until):
			later = at.Until
		}
		if !later.IsZero() {
			if _, err := tx.ExecContext(ctx, s.q.queueing.later, at.id, later.UnixNano()); err != nil {
				return q, l, false, err
			}
			continue
		}
		var fence number
		if err := tx.QueryRowContext(ctx, s.q.nextFence).Scan(&fence); err != nil {
			return q, l, false, err
		}
		at.Owner, at.Fence, at.Until = owner, uint64(fence), at.now.Add(ttl)
		result, err := tx.ExecContext(ctx, s.q.queueing.claim, at.id, at.Until.UnixNano(), int64(at.Fence))
		if err != nil {
			return q, l, false, err
		}
		if n, err := result.RowsAffected(); err != nil {
			return q, l, false, err
		} else if n == 0 { // it has gone on meanwhile
			continue
		}
		return q, at.lease(), false, s.save(ctx, tx, at)
	}
}

// Delay is the method of [journal.Queue].
func (s *Store) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	if err := journal.ValidateClaimed(l); err != nil {
		return err
	}
	if err := contextError(ctx, "delay", l.Session); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, l.Session)
		if err != nil || !at.exists() {
			return err
		}
		if at.writable(l.Fence) {
			at.Owner, at.Until = "", time.Time{}
			if err := s.save(ctx, tx, at); err != nil {
				return err
			}
		}
		var tries number
		err = tx.QueryRowContext(ctx, s.q.queueing.tries, at.id, int64(l.Fence)).Scan(&tries)
		if errors.Is(err, sql.ErrNoRows) { // it has gone on, or was claimed again
			return nil
		}
		if err == nil && until.IsZero() {
			until = at.now.Add(journal.QueueDelay(int(tries)))
			tries++
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, s.q.queueing.delay, at.id, nearest(until), int64(tries))
		}
		return err
	})
}

// Depths is the method of [journal.Queue].
func (s *Store) Depths(ctx context.Context) (all []journal.Depth, err error) {
	if err := contextError(ctx, "depths of", "the queue"); err != nil {
		return nil, err
	}
	err = s.db.Query(ctx, s.q.queueing.depths, []any{s.clock()}, func(scan func(...any) error) error {
		var d journal.Depth
		var waiting, started, later number
		var oldest instant
		if err := scan(&d.Agent, &d.Group, &waiting, &started, &later, &oldest); err != nil {
			return err
		}
		d.Waiting, d.Later, d.Started, d.Oldest = int(waiting), int(later), int(started), dueTime(time.Time(oldest))
		all = append(all, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// stand gives a session the place that its newest head says.
func (s *Store) stand(ctx context.Context, tx Tx, at *row, p *journal.Place) error {
	if p == nil {
		_, err := tx.ExecContext(ctx, s.q.queueing.leave, at.id)
		return err
	}
	when, state, due := dueColumn(at.Due), ready, (*int64)(nil)
	switch {
	case p.Started:
		state = started
	case at.Due.After(at.now):
		state, due = delayed, &when
	}
	_, err := tx.ExecContext(ctx, s.q.queueing.enter, at.id, p.Agent, p.Group, int64(p.Precedence), when, state, due)
	return err
}

// QueueColumns returns what a head says of its place in the queue: agent, group, precedence, the
// time at which it is due, or 0 for at once, and whether it has started.
func QueueColumns(u *journal.HeadUpdate) []any {
	var h journal.Head
	h.Set(u)
	return []any{u.Queue.Agent, u.Queue.Group, int64(u.Queue.Precedence), dueColumn(h.Due), u.Queue.Started}
}

// dueColumn returns the column at of a time at which a session is due.
func dueColumn(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
