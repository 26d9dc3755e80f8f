package portfolio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

func (t *tx) seed() {
	for _, u := range seeded {
		t.addUser(u.User)
		t.putContext(u.ID, u.UserContext)
	}
}

func (t *tx) addUser(u User) {
	t.exec("INSERT INTO users VALUES (?, ?, ?, ?)", u.ID, u.Email, u.Name, u.Plan)
}

func (t *tx) putContext(user string, c UserContext) {
	t.exec("INSERT OR REPLACE INTO user_context VALUES (?, ?, ?, ?, ?, ?)", user, c.Bio, c.Expertise, c.Audience,
		c.PainPoints, c.Goals)
}

// AddUser adds a user.
func (s *Store) AddUser(ctx context.Context, u User) error {
	return s.write(ctx, func(t *tx) { t.addUser(u) })
}

const userColumns = "SELECT id, email, name, plan FROM users "

func scanUser(r row, u *User) error { return r.Scan(&u.ID, &u.Email, &u.Name, &u.Plan) }

// Users returns all users, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	return list(ctx, s, scanUser, userColumns+"ORDER BY name")
}

// UserByID returns a user. An unknown one is an [*Error] of the category Unauthorized.
func (s *Store) UserByID(ctx context.Context, id string) (User, error) {
	return get(ctx, s.db, scanUser, Errorf(Unauthorized, "There is no user %q.", id), userColumns+"WHERE id = ?", id)
}

// LogOut ends a login before its time; token is a hash of it.
func (s *Store) LogOut(ctx context.Context, token string, until time.Time) error {
	return s.write(ctx, func(t *tx) {
		t.exec("DELETE FROM logouts WHERE until < ?", unix(t.now))
		t.exec("INSERT OR REPLACE INTO logouts VALUES (?, ?)", token, unix(until))
	})
}

// LoggedOut reports whether [Store.LogOut] has ended a login.
func (s *Store) LoggedOut(ctx context.Context, token string) (bool, error) {
	n, err := get(ctx, s.db, scalar[int], nil, "SELECT count(*) FROM logouts WHERE token = ?", token)
	return n > 0, err
}

// Context returns what is known about a user; nothing for an unknown one.
func (s *Store) Context(ctx context.Context, user string) (UserContext, error) {
	return get(ctx, s.db, func(r row, c *UserContext) error {
		return r.Scan(&c.Bio, &c.Expertise, &c.Audience, &c.PainPoints, &c.Goals)
	}, nil, "SELECT bio, expertise, audience, pain_points, goals FROM user_context WHERE user_id = ?", user)
}

// SetContext replaces what is known about a user.
func (s *Store) SetContext(ctx context.Context, user string, c UserContext) error {
	if _, err := s.UserByID(ctx, user); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) { t.putContext(user, c) })
}

// AddTokens adds to the tokens that a user has used in a month (UTC).
func (s *Store) AddTokens(ctx context.Context, user string, at time.Time, n int64) error {
	return s.exec(ctx, "INSERT INTO tokens VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used",
		user,
		month(at), n)
}

// Tokens returns how many tokens a user has used in a month (UTC).
func (s *Store) Tokens(ctx context.Context, user string, at time.Time) (int64, error) {
	return get(ctx, s.db, scalar[int64], nil,
		"SELECT coalesce(sum(used), 0) FROM tokens WHERE user_id = ? AND month = ?",
		user, month(at))
}

func month(at time.Time) string { return at.UTC().Format("2006-01") }

// Hash returns the id of a user as logs and statistics may have it: 16 hexadecimal digits of the
// SHA-256 of id and salt; empty for no user.
func Hash(user, salt string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user + salt))
	return hex.EncodeToString(sum[:8])
}
