package langchain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/memory/index"
)

// Upsert adds entries, or replaces those with the same ids: all or none. Of two entries with one id
// the later counts. New documents are added first, then the ledger makes them current, then the
// replaced ones are deleted. Errors: *UnsupportedError without a ledger, or if something would be
// replaced that can't be deleted; [*index.ModelError]; class fault.Invalid for an entry without id
// or vector, or with a vector that contains NaN; *AnswerError; *LeftoverError if the change was
// made. After an error of the ledger's commit, the change may or may not have been made.
func (x *Index) Upsert(ctx context.Context, entries []index.Entry) error {
	return x.put(given(ctx), "upsert", entries, false)
}

// Replace replaces all entries of the index: searches find either the old or the new ones. The
// model may be different if the store makes the vectors. Errors are those of Upsert.
func (x *Index) Replace(ctx context.Context, entries []index.Entry) error {
	return x.put(given(ctx), "replace", entries, true)
}

// Delete removes entries. Unknown ids are ignored. The entries are hidden at once, then their
// documents are deleted. Errors: *UnsupportedError without a ledger, or if documents can't be
// deleted; *LeftoverError if the entries are hidden, but not all documents deleted.
func (x *Index) Delete(ctx context.Context, ids []string) error {
	ctx = given(ctx)
	end, err := x.begin(ctx, "delete")
	if err != nil {
		return err
	}
	defer end()
	old, err := x.records(ctx, "delete", ids)
	if err != nil || len(old) == 0 {
		return err
	}
	documents := documentsOf(old)
	if err := x.deletable("delete", documents); err != nil {
		return err
	}
	if err := x.commit(ctx, Change{Delete: slices.Sorted(maps.Keys(old))}); err != nil {
		return err
	}
	return x.remove(ctx, documents)
}

// begin waits until no other change is in progress.
func (x *Index) begin(ctx context.Context, op string) (end func(), err error) {
	if x.cfg.Ledger == nil {
		return nil, unledgered(op)
	}
	if ctx.Err() == nil {
		select {
		case x.turn <- struct{}{}:
			return func() { <-x.turn }, nil
		case <-ctx.Done():
		}
	}
	return nil, fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
}

func (x *Index) put(ctx context.Context, op string, entries []index.Entry, replace bool) error {
	end, err := x.begin(ctx, op)
	if err != nil {
		return err
	}
	defer end()
	fresh := make(map[string]Record, len(entries))
	for _, e := range entries {
		r, err := recordOf(e, x.cfg.Vectors)
		if err != nil {
			return err
		}
		fresh[e.Item.ID] = r
	}
	if err := x.oneModel(ctx, op, fresh, replace); err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(fresh))
	touched := ids
	if replace {
		if touched, err = x.IDs(ctx); err != nil {
			return err
		}
	}
	old, err := x.records(ctx, op, touched)
	if err != nil {
		return err
	}
	before := documentsOf(old)
	if err := x.deletable(op, before); err != nil {
		return err
	}
	added, err := x.add(ctx, ids, fresh)
	if err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
		defer cancel()
		_ = x.remove(undo, without(added, before)) // what remains is hidden
		return err
	}
	if len(ids) == 0 && !replace {
		return nil
	}
	c := Change{Clear: replace}
	for _, id := range ids {
		c.Put = append(c.Put, fresh[id])
	}
	if err := x.commit(ctx, c); err != nil {
		return err // the documents stay: if the change was made, they are the current ones
	}
	return x.remove(ctx, without(before, added))
}

// oneModel returns an error if vectors of different models, or of different lengths, would be
// compared.
func (x *Index) oneModel(ctx context.Context, op string, fresh map[string]Record, replace bool) error {
	model, size, known := x.cfg.Model, 0, false
	if !replace {
		var err error
		var have string
		if have, size, known, err = x.holds(ctx, op); err != nil {
			return err
		}
		if known {
			model = have
		}
	}
	for _, id := range slices.Sorted(maps.Keys(fresh)) {
		r := fresh[id]
		if !known { // the model of the first, or the store's if it makes the vectors
			model, size, known = cmp.Or(model, r.Entry.Model), r.Size, true
		}
		if x.cfg.Model != "" && r.Entry.Model != x.cfg.Model {
			return &index.ModelError{Have: x.cfg.Model, HaveSize: size, Given: r.Entry.Model, GivenSize: r.Size}
		}
		if r.Entry.Model != model || r.Size != size {
			return &index.ModelError{Have: model, HaveSize: size, Given: r.Entry.Model, GivenSize: r.Size}
		}
	}
	return nil
}

// add adds the documents of records to the store, and sets the store's ids in the records. It
// returns the ids, also if it fails.
func (x *Index) add(ctx context.Context, ids []string, fresh map[string]Record) (added []string, err error) {
	seen := make(map[string]bool, len(ids))
	for part := range slices.Chunk(ids, x.cfg.Batch) {
		docs := make([]schema.Document, len(part))
		vectors := &fixed{}
		for i, id := range part {
			r := fresh[id]
			if docs[i], err = documentOf(&r); err != nil {
				return added, err
			}
			vectors.texts = append(vectors.texts, docs[i].PageContent)
			vectors.vectors = append(vectors.vectors, r.Entry.Vector)
		}
		options := slices.Clone(x.cfg.AddOptions)
		if x.cfg.Vectors {
			options = append(options, vectorstores.WithEmbedder(vectors))
		}
		var given []string
		err := foreign(ctx, "store: add", func(ctx context.Context) (err error) {
			given, err = x.store.AddDocuments(ctx, docs, options...)
			return err
		})
		if err != nil {
			return added, err
		}
		if err := answered(given, len(part), seen); err != nil {
			return added, err
		}
		added = append(added, given...)
		if x.cfg.Vectors && !vectors.asked.Load() {
			return added, ignored("upsert")
		}
		for i, id := range part {
			r := fresh[id]
			r.Documents = []string{given[i]}
			fresh[id] = r
		}
	}
	return added, nil
}

// answered returns an error unless a store has returned an id for each document.
func answered(ids []string, count int, seen map[string]bool) error {
	if len(ids) != count {
		return &AnswerError{Op: "store: add",
			Problem: fmt.Sprintf("it returned %d ids for %d documents", len(ids), count)}
	}
	for _, id := range ids {
		if id == "" || seen[id] {
			return &AnswerError{Op: "store: add",
				Problem: fmt.Sprintf("it returned the id %q, which is empty or occurs twice", id)}
		}
		seen[id] = true
	}
	return nil
}

func (x *Index) commit(ctx context.Context, c Change) error {
	err := foreign(ctx, "ledger: commit", func(ctx context.Context) error { return x.cfg.Ledger.Commit(ctx, c) })
	x.changes.Add(1)
	return err
}

// remove deletes documents that aren't current, if they can be deleted.
func (x *Index) remove(ctx context.Context, documents []string) error {
	if x.cfg.Delete == nil {
		return nil
	}
	for part := range slices.Chunk(documents, x.cfg.Batch) {
		err := foreign(ctx, "store: delete", func(ctx context.Context) error {
			return x.cfg.Delete(ctx, slices.Clone(part))
		})
		if err != nil {
			return &LeftoverError{Documents: documents, Err: err}
		}
		documents = documents[len(part):]
	}
	return nil
}

// deletable returns an error if documents can't be deleted.
func (x *Index) deletable(op string, documents []string) error {
	if x.cfg.Delete == nil && len(documents) > 0 {
		return undeletable(op)
	}
	return nil
}

func undeletable(op string) error {
	return &UnsupportedError{Op: op,
		Missing: "Config.Delete, or a store that is a Deleter: langchaingo's interface can't delete"}
}

// documentsOf returns the documents of records, sorted.
func documentsOf(records map[string]Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.Documents...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// without returns the ids that aren't in others.
func without(ids, others []string) []string {
	not := make(map[string]bool, len(others))
	for _, id := range others {
		not[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return not[id] })
}
