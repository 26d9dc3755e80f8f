package portfolio

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// The states of proposals.
const (
	Proposed = "proposed"
	Accepted = "accepted"
	Rejected = "rejected"
)

// A Proposal is a change of a text that its owner accepts or rejects. Until then the text stays as
// it is.
type Proposal struct {
	ID       string `json:"id"`
	Artifact string `json:"artifactId"`
	// Target says in words what changes: "the whole text", "the section Results", "the selection".
	Target      string `json:"target"`
	Instruction string `json:"instruction"` // what was asked for
	// Old is the part of the text that New replaces. It must occur exactly once.
	Old   string    `json:"old"`
	New   string    `json:"new"`
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

// Propose keeps a proposal with the images that its New shows, and returns it. It takes the place
// of an open one for the same artifact. One without an ID gets one; if there is one with that ID,
// that is returned, and nothing changes. If Old doesn't occur exactly once, or nothing would
// change, the error is an [*Error].
func (s *Store) Propose(ctx context.Context, user string, p Proposal, images ...Image) (Proposal, error) {
	p.ID, p.State, p.At = cmp.Or(p.ID, newID()), Proposed, s.now().UTC().Truncate(time.Millisecond)
	return p, s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := scanProposal(tx.QueryRowContext(ctx, proposalColumns+"AND p.id = ?", user, p.ID), &p)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		a, err := one(tx.QueryRowContext(ctx, artifactColumns+"WHERE id = ? AND user_id = ?", p.Artifact, user))
		if err != nil {
			return err
		}
		if _, err := p.applied(&a); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE proposals SET state = ? WHERE artifact_id = ? AND state = ?", Rejected,
			a.ID, Proposed); err != nil {
			return err
		}
		if err := errors.Join(dropImages(ctx, tx, a.ID), putImages(ctx, tx, a.ID, images)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO proposals VALUES (?, ?, ?, ?, ?, ?, ?, ?)", p.ID, a.ID, p.Target,
			p.Instruction, p.Old, p.New, p.State, p.At.UnixMilli())
		return err
	})
}

// applied returns the text with the proposal in it.
func (p *Proposal) applied(a *Artifact) (string, error) {
	switch n := strings.Count(a.Content, p.Old); {
	case p.Old == "":
		return "", Errorf(InvalidInput, "There is no text to change.")
	case p.Old == p.New:
		return "", Errorf(InvalidInput, "The new text is the same as the old one.")
	case n == 0:
		return "", Errorf(Conflict, "The text has changed since this was proposed; ask for it again.")
	case n > 1:
		return "", Errorf(Conflict, "The text has this passage %d times; choose more of it.", n)
	}
	text := strings.Replace(a.Content, p.Old, p.New, 1)
	return text, CheckLength("content", text, MaxContent)
}

const proposalColumns = "SELECT p.id, p.artifact_id, p.target, p.instruction, p.old_text, p.new_text, p.state, p.at " +
	"FROM proposals p JOIN artifacts a ON a.id = p.artifact_id WHERE a.user_id = ? "

func scanProposal(r row, p *Proposal) error {
	var at int64
	err := r.Scan(&p.ID, &p.Artifact, &p.Target, &p.Instruction, &p.Old, &p.New, &p.State, &at)
	p.At = time.UnixMilli(at).UTC()
	return err
}

// Proposal returns the open proposal for an artifact; nil if there is none.
func (s *Store) Proposal(ctx context.Context, user, artifact string) (*Proposal, error) {
	p := &Proposal{}
	err := scanProposal(s.db.QueryRowContext(ctx, proposalColumns+"AND a.id = ? AND p.state = ?", user, artifact,
		Proposed), p)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return p, err
}

// Decide accepts or rejects an open proposal, and returns the artifact after it. A proposal that
// was decided before, or whose passage has changed since, is an [*Error] of the category Conflict;
// the latter stays open.
func (s *Store) Decide(ctx context.Context, user, id string, accept bool) (a Artifact, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var p Proposal
		err := scanProposal(tx.QueryRowContext(ctx, proposalColumns+"AND p.id = ?", user, id), &p)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return Errorf(ArtifactNotFound, "There is no such proposal.")
		case err != nil:
			return err
		case p.State != Proposed:
			return Errorf(Conflict, "This proposal was %s before.", p.State)
		}
		if a, err = one(tx.QueryRowContext(ctx, artifactColumns+"WHERE id = ?", p.Artifact)); err != nil {
			return err
		}
		state := Rejected
		if accept {
			text, err := p.applied(&a)
			if err != nil {
				return err
			}
			c := Change{User: user, Artifact: a.ID, Content: &text, Author: "proposal"}
			if a, err = s.edit(ctx, tx, c); err != nil {
				return err
			}
			state = Accepted
		}
		_, err = tx.ExecContext(ctx, "UPDATE proposals SET state = ? WHERE id = ?", state, id)
		return errors.Join(err, dropImages(ctx, tx, a.ID))
	})
	return a, err
}

// dropImages deletes the images of an artifact that no version shows: those of rejected proposals.
func dropImages(ctx context.Context, tx *sql.Tx, artifact string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM images WHERE artifact_id = ? AND NOT EXISTS (SELECT 1 FROM versions v "+
		"WHERE v.artifact_id = images.artifact_id AND instr(v.content, images.id))", artifact)
	return err
}
