package portfolio

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// A User owns artifacts. Plan is free, pro or enterprise.
type User struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Plan  string `json:"plan"`
}

// A UserContext is what the texts of a user are to know about the user.
type UserContext struct {
	Bio        string `json:"bio,omitempty"`
	Expertise  string `json:"expertiseAreas,omitempty"`
	Audience   string `json:"targetAudience,omitempty"`
	PainPoints string `json:"painPoints,omitempty"`
	Goals      string `json:"contentGoals,omitempty"`
}

// Lines returns the context as lines for a model, only those present.
func (c UserContext) Lines() string {
	var b strings.Builder
	for _, l := range [][2]string{{"Bio", c.Bio}, {"Expertise", c.Expertise}, {"Target Audience", c.Audience},
		{"Pain Points", c.PainPoints}, {"Content Goals", c.Goals}} {
		if l[1] != "" {
			b.WriteString(l[0] + ": " + l[1] + "\n")
		}
	}
	if b.Len() == 0 {
		return "(No user context available)"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// seeded are the users of a new file.
var seeded = []struct {
	User
	UserContext
}{
	{User{"ann", "ann@example.com", "Ann Carter", "pro"},
		UserContext{"Independent consultant for remote teams", "remote work, leadership, hiring",
			"heads of engineering in companies of 50 to 500 people", "meetings that eat the week, slow hiring",
			"win two clients per quarter"}},
	{User{"ben", "ben@example.com", "Ben Okafor", "free"},
		UserContext{Bio: "Data consultant", Expertise: "analytics, dashboards", Audience: "owners of small shops"}},
	{User{"eva", "eva@example.com", "Eva Lindqvist", "enterprise"},
		UserContext{"Partner of a design studio", "design systems, accessibility",
			"product managers", "inconsistent interfaces", "be invited to speak"}},
}

func (s *Store) seed(ctx context.Context, tx *sql.Tx) error {
	for _, u := range seeded {
		if _, err := tx.ExecContext(ctx, "INSERT INTO users VALUES (?, ?, ?, ?)", u.ID, u.Email, u.Name,
			u.Plan); err != nil {
			return err
		}
		if err := putContext(ctx, tx, u.ID, u.UserContext); err != nil {
			return err
		}
	}
	return nil
}

// AddUser adds a user.
func (s *Store) AddUser(ctx context.Context, u User) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO users VALUES (?, ?, ?, ?)", u.ID, u.Email, u.Name, u.Plan)
		return err
	})
}

// Users returns all users, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	return list(ctx, s.db, func(r *sql.Rows, u *User) error { return r.Scan(&u.ID, &u.Email, &u.Name, &u.Plan) },
		"SELECT id, email, name, plan FROM users ORDER BY name")
}

// UserByID returns a user. An unknown one is an [*Error] of the category Unauthorized.
func (s *Store) UserByID(ctx context.Context, id string) (User, error) {
	var u User
	err := s.db.QueryRowContext(ctx, "SELECT id, email, name, plan FROM users WHERE id = ?", id).Scan(&u.ID, &u.Email,
		&u.Name, &u.Plan)
	if errors.Is(err, sql.ErrNoRows) {
		return u, Errorf(Unauthorized, "There is no user %q.", id)
	}
	return u, err
}

// LogOut ends a login before its time; token is a hash of it.
func (s *Store) LogOut(ctx context.Context, token string, until time.Time) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM logouts WHERE until < ?", s.now().UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO logouts VALUES (?, ?)", token, until.UnixMilli())
		return err
	})
}

// LoggedOut reports whether [Store.LogOut] has ended a login.
func (s *Store) LoggedOut(ctx context.Context, token string) (bool, error) {
	n := 0
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM logouts WHERE token = ?", token).Scan(&n)
	return n > 0, err
}

// Context returns what is known about a user; nothing for an unknown one.
func (s *Store) Context(ctx context.Context, user string) (UserContext, error) {
	var c UserContext
	err := s.db.QueryRowContext(ctx,
		"SELECT bio, expertise, audience, pain_points, goals FROM user_context WHERE user_id = ?", user).
		Scan(&c.Bio, &c.Expertise, &c.Audience, &c.PainPoints, &c.Goals)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil
	}
	return c, err
}

// SetContext replaces what is known about a user.
func (s *Store) SetContext(ctx context.Context, user string, c UserContext) error {
	if _, err := s.UserByID(ctx, user); err != nil {
		return err
	}
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return putContext(ctx, tx, user, c) })
}

// AddTokens adds to the tokens that a user has used in a month (UTC).
func (s *Store) AddTokens(ctx context.Context, user string, at time.Time, n int64) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			"INSERT INTO tokens VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used", user,
			month(at), n)
		return err
	})
}

// Tokens returns how many tokens a user has used in a month (UTC).
func (s *Store) Tokens(ctx context.Context, user string, at time.Time) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT coalesce(sum(used), 0) FROM tokens WHERE user_id = ? AND month = ?", user,
		month(at)).Scan(&n)
	return n, err
}

func month(at time.Time) string { return at.UTC().Format("2006-01") }

func putContext(ctx context.Context, tx *sql.Tx, user string, c UserContext) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO user_context VALUES (?, ?, ?, ?, ?, ?)", user, c.Bio,
		c.Expertise, c.Audience, c.PainPoints, c.Goals)
	return err
}

// list returns the rows of a query.
func list[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T,
	error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// Hash returns the id of a user as logs and statistics may have it: 16 hexadecimal digits of the
// SHA-256 of id and salt; empty for no user.
func Hash(user, salt string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user + salt))
	return hex.EncodeToString(sum[:8])
}
