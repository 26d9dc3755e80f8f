// Package observe shows what a content agent does: traces, metrics, alerts and dashboards.
//
// An [Observer] gets its data from the agent's hooks, the assistant's events and the calls of model
// providers. It stores a row for each tool call in the file of the portfolio, without texts and
// with hashed user ids. The dashboards are computed from these rows. A row also names the session
// that has the facts of its call: [Observer.Trace] makes a trace from them when somebody asks for
// it.
//
//	o, err := observe.OpenWith(db, observe.Config{Salt: salt})
//	cfg.Hooks, cfg.Observe = []agent.Hooks{o.Hooks()}, o.Event // of the assistant
//	cfg.Model, err = assistant.Failover(logger, o.Calls(), models...)
//	…
//	admin := o.Handler(services, limits.Used)
//	go o.Watch(ctx, services, limits.Used)
//
// Retention: rows and the facts of completed work are deleted 30 days after their last use, and
// traces are shown for 7 days. Logs are written to the standard error of the program, and metrics
// are collected by a Prometheus; how long these are kept is decided there.
package observe
