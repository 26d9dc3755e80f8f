// Package observe shows what a content agent does: traces, metrics, alerts and dashboards.
//
// An [Observer] is the telemetry of the agent (package telemetry), with counters of what that
// doesn't know: requests, pipelines, errors by category, and attempts at each provider. Spans come
// from the facts in the journal, with hashed ids of users: they need no store of their own, and are
// there after a restart. Alerts are rules about what was counted, and about pipelines that are
// stuck.
//
//	o, err := observe.New(observe.Config{Salt: salt})
//	cfg.Hooks, cfg.Observe = []agent.Hooks{o.Hooks()}, o.Event // of the assistant
//	models, err := assistant.Failover(logger, o.Calls(), models...)
//	cfg.Model = o.Provider(models)
//	…
//	go o.Watch(ctx, services, limits.Used)
//
// Retention: the facts of completed work are deleted 30 days after their last use, and traces are
// shown for 7 days. Logs are written to the standard error of the program, and metrics are
// collected by a Prometheus ([Observer.Metrics]); how long these are kept is decided there.
package observe
