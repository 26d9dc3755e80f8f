package agent

import (
	"errors"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Words says to a person what an error means, and what they can change: a variable of the
// environment, the name of the model, the account, or the time. It knows the failures of model
// calls ([provider.Problem]), limits and budgets, also in the error of a run that was read. Any
// other error is said as it is, and so is a request that a provider refuses for a reason that only
// its answer has; otherwise Words says nothing that a server wrote. The words are for a screen; err
// itself is for the log. Words of nil are empty.
func Words(err error) string {
	if err == nil {
		return ""
	}
	var (
		says    interface{ Words() string } // a *StopError, a *LimitError
		gaveUp  *guard.GaveUpError
		several *guard.FailoverError
		refused *provider.Error
		spent   *budget.Error
		text    string
	)
	switch {
	case errors.As(err, &says) && says.Words() != "":
		text = says.Words()
	case errors.As(err, &spent):
		end := &StopError{Code: machine.CodeBudget}
		if spent.Unpriced {
			end.Limit = machine.LimitRequirePrices
		}
		text = end.Words()
	case errors.As(err, &gaveUp), errors.As(err, &several), errors.As(err, &refused):
		if p := provider.ProblemOf(err); p != nil && p.Kind != provider.ProblemRequest {
			text = p.Words()
		}
	}
	if text == "" {
		return err.Error()
	}
	return text
}

// problemOf returns why the model calls of a run have failed. What doesn't name its provider, such
// as a timeout, is that of the agent, unless several were called.
func (a *Agent) problemOf(err error) *provider.Problem {
	p := provider.ProblemOf(err)
	if p == nil || p.Provider != "" || errors.As(err, new(*guard.FailoverError)) {
		return p
	}
	if info, ok := provider.Info(a.provider); ok {
		p.Provider = info.Provider
	}
	return p
}
