package site

import (
	"context"
	"database/sql"
	"errors"
)

// The tables of contents, which differ in their owner.
type contentTable struct{ name, owner string }

var (
	pageContents  = contentTable{"page_section_contents", "page_section_id"}
	entryContents = contentTable{"entry_contents", "entry_id"}
)

// getContent returns the contents of an owner in a locale, or an empty map.
func getContent(ctx context.Context, tx *sql.Tx, t contentTable, owner, locale string) (map[string]any, error) {
	var text string
	err := tx.QueryRowContext(ctx, "SELECT content FROM "+t.name+" WHERE "+t.owner+" = ? AND locale_code = ?", owner, locale).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return map[string]any{}, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeObject(text)
}

// putContent replaces the contents of an owner in a locale with the result of change.
func putContent(ctx context.Context, tx *sql.Tx, t contentTable, owner, locale string, change func(old map[string]any) (map[string]any, error)) error {
	old, err := getContent(ctx, tx, t, owner, locale)
	if err != nil {
		return err
	}
	content, err := change(old)
	if err != nil {
		return err
	}
	text, err := encodeObject(content)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+t.name+" (id, "+t.owner+", locale_code, content) VALUES (?, ?, ?, ?) ON CONFLICT ("+t.owner+", locale_code) DO UPDATE SET content = excluded.content",
		newID(contentID), owner, locale, text)
	return err
}
