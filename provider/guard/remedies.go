package guard

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

// Remedies returns what a person can do about err, most likely remedy first: what the error itself
// says ([fault.Remedy]), then what its class suggests. It is empty for nil and for cancellations.
func Remedies(err error) []string {
	class := fault.Of(err)
	if class == fault.None {
		return nil
	}
	var out []string
	if r, ok := fault.Remedy(err); ok {
		out = append(out, r)
	}
	again := "make the call again later"
	if wait, ok := fault.RetryAfter(err); ok && wait > 0 {
		again = fmt.Sprintf("make the call again in %v", wait.Round(time.Second))
	}
	const other = "use another provider (guard.Failover)"
	switch class {
	case fault.Transient:
		out = append(out, "make the call again")
		if late, ok := errors.AsType[*stream.TimeoutError](err); ok {
			out = append(out, fmt.Sprintf("allow more than %v, if the model needs it", late.After))
		}
		out = append(out, "look at the network between here and the provider", other)
	case fault.RateLimited:
		out = append(out, again, other,
			"send fewer requests and tokens a minute (ratelimit.GateConfig), or ask the provider for higher limits")
	case fault.Degraded:
		out = append(out, other, again, "look whether the provider reports an outage")
	case fault.UserFixable:
		if len(out) == 0 {
			out = append(out, "look at the provider's account: its key, its billing and its quota")
		}
		if budget := (*budget.Error)(nil); !errors.As(err, &budget) { // which another provider would use, too
			out = append(out, other)
		}
	default:
		if len(out) == 0 {
			out = append(out, "change the request: made again as it is, it would fail again")
		}
	}
	return out
}
