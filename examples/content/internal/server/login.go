package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

const (
	cookieName = "content_session"
	lasts      = 12 * time.Hour
)

// header is that of all tokens: {"alg":"HS256","typ":"JWT"}. A token with another one isn't read at
// all.
const header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"

// claims are the content of a token.
type claims struct {
	Subject string `json:"sub"`
	ID      string `json:"jti"`
	Expires int64  `json:"exp"` // seconds
	// NotBefore is for tokens that another service signs; 0: at once.
	NotBefore int64 `json:"nbf,omitempty"`
}

// token returns a JSON Web Token (RFC 7519) for a user.
func (s *Server) token(user string, until time.Time) string {
	body, _ := json.Marshal(claims{Subject: user, ID: rand.Text(), Expires: until.Unix()}) // a string and a number
	signed := header + "." + base64.RawURLEncoding.EncodeToString(body)
	return signed + "." + s.signature(signed)
}

func (s *Server) signature(signed string) string {
	mac := hmac.New(sha256.New, s.cfg.Secret)
	mac.Write([]byte(signed))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// claims returns what a token that is valid now says.
func (s *Server) claims(token string, now time.Time) (c claims, ok bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 || !strings.HasPrefix(token, header+".") ||
		!hmac.Equal([]byte(token[i+1:]), []byte(s.signature(token[:i]))) {
		return c, false
	}
	body, err := base64.RawURLEncoding.DecodeString(token[len(header)+1 : i])
	if err != nil || json.Unmarshal(body, &c) != nil || now.Unix() >= c.Expires ||
		now.Unix() < c.NotBefore {
		return claims{}, false
	}
	return c, true
}

// tokenOf returns the token of a request.
func tokenOf(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		if c, err := r.Cookie(cookieName); err == nil {
			token = c.Value
		}
	}
	return token
}

// userOf returns who makes a request.
func (s *Server) userOf(r *http.Request) (portfolio.User, error) {
	token := tokenOf(r)
	c, ok := s.claims(token, time.Now())
	over, err := s.Store.LoggedOut(r.Context(), portfolio.Hash(token, ""))
	if err != nil {
		return portfolio.User{}, err
	}
	if !ok || over {
		return portfolio.User{},
			&refusal{http.StatusUnauthorized, portfolio.Errorf(portfolio.Unauthorized, "Log in first.")}
	}
	return s.Store.UserByID(r.Context(), c.Subject)
}

func (s *Server) loginRoutes(mux *http.ServeMux) {
	open(s, mux, "GET /api/users", func(c *call) (any, error) {
		all, err := s.Store.Users(c.Context())
		return map[string]any{"users": all, "model": s.cfg.Model}, err
	})
	open(s, mux, "POST /api/login", s.login)
	open(s, mux, "POST /api/logout", func(c *call) (_ any, err error) {
		token := tokenOf(c.Request)
		if valid, ok := s.claims(token, time.Now()); ok {
			err = s.Store.LogOut(c.Context(), portfolio.Hash(token, ""), time.Unix(valid.Expires, 0))
		}
		s.setCookie(c.w, "", -1)
		return nil, err
	})
	on(s, mux, "GET /api/me", func(c *call, _ none) (any, error) { return s.me(c) })
	on(s, mux, "GET /api/user-context", func(c *call, _ none) (any, error) {
		return s.Store.Context(c.Context(), c.user.ID)
	})
	on(s, mux, "PUT /api/user-context", func(c *call, in portfolio.UserContext) (any, error) {
		for _, text := range []string{in.Bio, in.Expertise, in.Audience, in.PainPoints, in.Goals} {
			if err := portfolio.CheckLength("text", text, maxAbout); err != nil {
				return nil, err
			}
		}
		return in, s.Store.SetContext(c.Context(), c.user.ID, in)
	})
}

// maxAbout is how many characters each part of the user's context may have.
const maxAbout = 2_000

// login lets somebody in who names a seeded user. A real service checks a password here, or asks an
// identity provider.
func (s *Server) login(c *call) (any, error) {
	in, err := decode[struct {
		User string `json:"user"`
	}](c)
	if err != nil {
		return nil, err
	}
	u, err := s.Store.UserByID(c.Context(), in.User)
	if err == nil {
		err = s.cfg.Limits.know(c.Context(), u)
	}
	if known, ok := errors.AsType[*portfolio.Error](err); ok {
		err = &refusal{http.StatusUnauthorized, known}
	}
	if err != nil {
		return nil, err
	}
	token := s.token(u.ID, time.Now().Add(lasts))
	s.setCookie(c.w, token, int(lasts.Seconds()))
	return map[string]any{"token": token, "user": u}, nil
}

func (s *Server) setCookie(w http.ResponseWriter, token string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: token, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
}
