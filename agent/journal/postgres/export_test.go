package postgres

import (
	"database/sql"
	"time"
)

// Pool lets tests look at a store's connections.
func Pool(s *Store) *sql.DB { return s.db.pool }

// Versions is the version of the tables.
func Versions() int { return len(migrations) }

// WithMigrations adds versions to come until the function it returns is called.
func WithMigrations(more ...[]string) func() {
	now := migrations
	migrations = append(now[:len(now):len(now)], more...)
	return func() { migrations = now }
}

var (
	ErrPrepared = errPrepared
	ErrReadOnly = errReadOnly
)

// Polls reports whether the inboxes are polled, because notices don't arrive.
func Polls(s *Store) bool {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return !s.listener.heard
}

// ProbeNever has a store try once alone whether notices arrive.
func ProbeNever(s *Store) { s.listener.every = 24 * time.Hour }

// WithoutNewest takes the newest version away until the function it returns is called.
func WithoutNewest() func() {
	now := migrations
	migrations = now[:len(now)-1]
	return func() { migrations = now }
}
