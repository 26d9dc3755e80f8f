package output

import (
	"context"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// Generate makes a model call that isn't a step of a run. The reply is bounded as [SizeOf] says,
// and collected until ctx ends, even if the provider ignores that. The Response is never nil. Usage
// that the provider doesn't count is estimated, unless the call has failed before the reply began.
func Generate(ctx context.Context, p provider.Provider, req *provider.Request, limit int) (*provider.Response, error) {
	size := SizeOf(req, limit)
	res, err := provider.CollectSeq(func(yield func(provider.Chunk, error) bool) {
		seq := p.Stream(ctx, req)
		if seq == nil {
			return
		}
		for c, err := range seq {
			if err == nil && ctx.Err() != nil { // the provider ignores it
				err = context.Cause(ctx)
			}
			if err == nil {
				err = size.Add(&c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	})
	if res.Usage.Total() == 0 && (err == nil || len(res.Parts) > 0) {
		res.Usage = guard.Estimate(req, res.Parts)
	}
	return res, err
}
