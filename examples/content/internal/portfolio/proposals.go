package portfolio

import (
	"cmp"
	"context"
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
	p.ID = cmp.Or(p.ID, newID())
	return p, s.write(ctx, func(t *tx) {
		if old := read(t, scanProposal, nil, proposalColumns+"AND p.id = ?", user, p.ID); old.ID != "" {
			p = old
			return
		}
		p.State, p.At = Proposed, t.now
		a := read(t, scanArtifact, notFound(), artifactColumns+"WHERE id = ? AND user_id = ?", p.Artifact, user)
		_, err := p.applied(&a)
		t.fail(err)
		t.exec("UPDATE proposals SET state = ? WHERE artifact_id = ? AND state = ?", Rejected, a.ID, Proposed)
		t.dropImages(a.ID)
		t.putImages(a.ID, images)
		t.exec("INSERT INTO proposals VALUES (?, ?, ?, ?, ?, ?, ?, ?)", p.ID, a.ID, p.Target, p.Instruction, p.Old,
			p.New, p.State, unix(p.At))
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
	return r.Scan(&p.ID, &p.Artifact, &p.Target, &p.Instruction, &p.Old, &p.New, &p.State, (*unix)(&p.At))
}

// Proposal returns the open proposal for an artifact; nil if there is none.
func (s *Store) Proposal(ctx context.Context, user, artifact string) (*Proposal, error) {
	p, err := get(ctx, s.db, scanProposal, nil, proposalColumns+"AND a.id = ? AND p.state = ?", user, artifact,
		Proposed)
	if p.ID == "" {
		return nil, err
	}
	return &p, err
}

// Decide accepts or rejects an open proposal, and returns the artifact after it. A proposal that
// was decided before, or whose passage has changed since, is an [*Error] of the category Conflict;
// the latter stays open.
func (s *Store) Decide(ctx context.Context, user, id string, accept bool) (a Artifact, err error) {
	err = s.write(ctx, func(t *tx) {
		p := read(t, scanProposal, notFound(), proposalColumns+"AND p.id = ?", user, id)
		if p.State != Proposed {
			t.fail(Errorf(Conflict, "This proposal was %s before.", p.State))
		}
		a = read(t, scanArtifact, notFound(), artifactColumns+"WHERE id = ?", p.Artifact)
		state := Rejected
		if accept {
			text, err := p.applied(&a)
			t.fail(err)
			a, state = t.edit(Change{User: user, Artifact: a.ID, Content: &text, Author: "proposal"}), Accepted
		}
		t.exec("UPDATE proposals SET state = ? WHERE id = ?", state, id)
		t.dropImages(a.ID)
	})
	return a, err
}

// dropImages deletes the images of an artifact that no version shows: those of rejected proposals.
func (t *tx) dropImages(artifact string) {
	t.exec("DELETE FROM images WHERE artifact_id = ? AND NOT EXISTS (SELECT 1 FROM versions v "+
		"WHERE v.artifact_id = images.artifact_id AND instr(v.content, images.id))", artifact)
}
