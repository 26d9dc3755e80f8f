// Package loop has what the comparisons of Pawl's loop with those of peers have in common: the runs
// that are measured, Pawl's side of them, and how two sides are measured in one process. It imports
// no peer, so a module that compares Pawl with one peer doesn't need the others.
//
//	pawl, err := loop.NewPawl(shape, new(loop.Counts))
//	peer := func(ctx context.Context) (int, error) { … } // runs the same shape once
//	share, err := loop.Compare(ctx, pawl, peer, 7)
//	fmt.Println(share.CPU) // 0.5: Pawl takes half of the peer's CPU time
package loop
