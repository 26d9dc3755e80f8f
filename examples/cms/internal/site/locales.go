package site

import (
	"cmp"
	"context"
	"regexp"
	"slices"
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

var localeTable = table[Locale]{what: "locale", from: "locales", columns: "code, name, status", where: "code = ?1",
	names: "SELECT code FROM locales ORDER BY code LIMIT 200",
	scan: func(scan scanner) (l Locale, err error) {
		err = scan(&l.Code, &l.Name, &l.Status)
		return l, err
	}}

// findLocale returns the locale with this code, or the default locale if code is empty. An inactive
// locale can be written and previewed, so that a translation can be prepared.
func findLocale(tx *txn, code string) (Locale, error) {
	return localeTable.find(tx, cmp.Or(code, DefaultLocale))
}

// ListLocales returns all locales, in the order of their codes.
func (s *Site) ListLocales(ctx context.Context) ([]Locale, error) {
	return view(ctx, s, "listing locales", func(tx *txn) ([]Locale, error) {
		return collect(tx, localeTable.scan, "SELECT code, name, status FROM locales ORDER BY code"), nil
	})
}

// CreateLocale adds a locale; its status is inactive if empty.
func (s *Site) CreateLocale(ctx context.Context, l Locale) (Locale, error) {
	return commit(ctx, s, "creating a locale", func(tx *txn) (Locale, error) {
		l.Status = cmp.Or(l.Status, Inactive)
		if err := l.check(); err != nil {
			return l, err
		}
		if value[bool](tx, "SELECT count(*) > 0 FROM locales WHERE code = ?", l.Code) {
			return l, conflict("change that one", "the locale %q exists already", l.Code)
		}
		tx.insert("locales", record{"code": l.Code, "name": l.Name, "status": l.Status})
		return l, nil
	})
}

// UpdateLocale changes the name and the status of a locale; empty fields don't change.
func (s *Site) UpdateLocale(ctx context.Context, change Locale) (Locale, error) {
	return commit(ctx, s, "updating a locale", func(tx *txn) (Locale, error) {
		l, err := findLocale(tx, change.Code)
		if err != nil {
			return l, err
		}
		l.Name, l.Status = cmp.Or(change.Name, l.Name), cmp.Or(change.Status, l.Status)
		if l.Code == DefaultLocale && l.Status != Active {
			return l, conflict("keep it active", "%q is the default locale", l.Code)
		}
		if err := l.check(); err != nil {
			return l, err
		}
		tx.exec("UPDATE locales SET name = ?, status = ? WHERE code = ?", l.Name, l.Status, l.Code)
		return l, nil
	})
}

// DeleteLocale removes a locale that has no contents, and returns it.
func (s *Site) DeleteLocale(ctx context.Context, code string) (Locale, error) {
	return commit(ctx, s, "deleting a locale", func(tx *txn) (Locale, error) {
		l, err := findLocale(tx, code)
		if err != nil {
			return l, err
		}
		if l.Code == DefaultLocale {
			return l, conflict("delete another one", "%q is the default locale", l.Code)
		}
		used := value[int](tx, `SELECT (SELECT count(*) FROM page_section_contents WHERE locale_code = ?1)
			+ (SELECT count(*) FROM entry_contents WHERE locale_code = ?1)`, l.Code)
		if used > 0 {
			return l, conflict("make it inactive instead", "the locale %q has the contents of %d sections and entries",
				l.Code, used)
		}
		tx.exec("DELETE FROM locales WHERE code = ?", l.Code)
		return l, nil
	})
}

func (l Locale) check() error {
	if !localeCode.MatchString(l.Code) {
		return inField("code", invalid(`use a tag such as "en" or "pt-BR"`, "the code %q isn't allowed", l.Code))
	}
	return cmp.Or(inField("name", checkText("the locale's name", l.Name, 1, maxName)),
		oneOf("status", l.Status, Active, Inactive))
}

// oneOf returns an error unless a field has one of the values.
func oneOf(field, got string, values ...string) error {
	if slices.Contains(values, got) {
		return nil
	}
	return inField(field, invalid(didYouMean(got, values), "%s %q is unknown", field, shorten(got, 80)))
}
