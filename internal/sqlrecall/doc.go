// Package sqlrecall is the part that the working memories in SQL databases share: the tables'
// migration, and a [Store] of entries and texts. It knows no driver: each store brings a [Database]
// and a [Dialect].
//
// # Tables
//
//   - recall: the entries.
//   - recall_tenants: what each tenant uses, and its last version. The row stays when the tenant has
//     no entries, so that versions aren't reused.
//   - recall_texts: what compaction removed from conversations. turn is the number of the put; the
//     text with the lowest was put longest ago.
//   - recall_scopes: what the texts of each scope take, and the last turn.
//   - recall_meta: the version of the tables, see [Migrate].
//
// A change is one transaction, which excludes all others of its tenant from its first statement on.
//
//	store := sqlrecall.New(database, sqlrecall.Config{Package: "sqlmemory", Limits: limits,
//		TextBytes: 64 << 20, Dialect: sqlrecall.Dialect{Prefix: "pawl_"}})
//	version, err := store.Put(ctx, entry)
package sqlrecall
