package site

import (
	"context"
	"database/sql"
	"regexp"
)

// The states of a [Locale].
const (
	Active   = "active"
	Inactive = "inactive" // it can be written and previewed, and visitors don't see it
)

// A Locale is a language of the contents.
type Locale struct {
	Code   string `json:"code"` // a language tag such as "en" or "pt-BR"
	Name   string `json:"name"`
	Status string `json:"status"` // active or inactive
}

var localeCode = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// ListLocales returns all locales, in the order of their codes.
func (s *Site) ListLocales(ctx context.Context) ([]Locale, error) {
	return view(ctx, s, "listing locales", func(tx *sql.Tx) ([]Locale, error) {
		return collect(ctx, tx, func(scan func(...any) error) (l Locale, err error) {
			return l, scan(&l.Code, &l.Name, &l.Status)
		}, "SELECT code, name, status FROM locales ORDER BY code")
	})
}

// CreateLocale adds a locale; its status is inactive if empty.
func (s *Site) CreateLocale(ctx context.Context, l Locale) (Locale, error) {
	return commit(ctx, s, "creating a locale", func(tx *sql.Tx) (Locale, error) {
		if l.Status == "" {
			l.Status = Inactive
		}
		if err := l.check(); err != nil {
			return l, err
		}
		var taken bool
		if err := tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM locales WHERE code = ?", l.Code).Scan(&taken); err != nil {
			return l, err
		}
		if taken {
			return l, conflict("change that one", "the locale %q exists already", l.Code)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO locales (code, name, status) VALUES (?, ?, ?)", l.Code, l.Name, l.Status)
		return l, err
	})
}

// UpdateLocale changes the name and the status of a locale; empty fields don't change.
func (s *Site) UpdateLocale(ctx context.Context, change Locale) (Locale, error) {
	return commit(ctx, s, "updating a locale", func(tx *sql.Tx) (Locale, error) {
		l, err := localeRow(ctx, tx, change.Code)
		if err != nil {
			return l, err
		}
		if change.Name != "" {
			l.Name = change.Name
		}
		if change.Status != "" {
			l.Status = change.Status
		}
		if l.Code == DefaultLocale && l.Status != Active {
			return l, conflict("keep it active", "%q is the default locale", l.Code)
		}
		if err := l.check(); err != nil {
			return l, err
		}
		_, err = tx.ExecContext(ctx, "UPDATE locales SET name = ?, status = ? WHERE code = ?", l.Name, l.Status, l.Code)
		return l, err
	})
}

// DeleteLocale removes a locale that has no contents, and returns it.
func (s *Site) DeleteLocale(ctx context.Context, code string) (Locale, error) {
	return commit(ctx, s, "deleting a locale", func(tx *sql.Tx) (Locale, error) {
		l, err := localeRow(ctx, tx, code)
		if err != nil {
			return l, err
		}
		if l.Code == DefaultLocale {
			return l, conflict("delete another one", "%q is the default locale", l.Code)
		}
		var used int
		if err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM page_section_contents WHERE locale_code = ?1)
			+ (SELECT count(*) FROM entry_contents WHERE locale_code = ?1)`, l.Code).Scan(&used); err != nil {
			return l, err
		}
		if used > 0 {
			return l, conflict("make it inactive instead", "the locale %q has the contents of %d sections and entries", l.Code, used)
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM locales WHERE code = ?", l.Code)
		return l, err
	})
}

func (l Locale) check() error {
	if !localeCode.MatchString(l.Code) {
		return invalid(`use a language tag such as "en" or "pt-BR"`, "the code %q isn't allowed", shorten(l.Code, 80))
	}
	if err := checkText("the locale's name", l.Name, 1, maxName); err != nil {
		return err
	}
	return oneOf("status", l.Status, Active, Inactive)
}

// oneOf returns an error unless a field has one of the values.
func oneOf(field, got string, values ...string) error {
	for _, v := range values {
		if got == v {
			return nil
		}
	}
	return invalid(didYouMean(got, values), "%s %q is unknown", field, shorten(got, 80))
}
