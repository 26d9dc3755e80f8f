// Package live runs agents for readers that come and go: a run outlives the request that started
// it, and any number of readers may watch it, early, late, or twice.
//
// A [Hub] owns the runs. [Hub.Start] starts one, [Hub.Send] starts one or sends a message to the
// one in progress, [Hub.Decide] takes decisions and resumes one, and [Hub.Watch] returns the events
// of a session: the facts after a number, then the text and the arguments so far of the model call
// in progress as one note each, then all later events.
//
//	hub, err := live.New(live.Config{Agent: a})
//	if err != nil {
//		return err
//	}
//	defer hub.Close()
//	run, err := hub.Start(ctx, agent.Input{Session: "s-1", Prompt: "Write the report."})
//	if err != nil {
//		return err
//	}
//	for ev, err := range hub.Watch(ctx, run.Session, run.After) {
//		…
//	}
//
// [Run] serves a hub over HTTP until the process gets SIGINT or SIGTERM, and then ends both in
// order.
//
// # Guarantees
//
//   - A run doesn't end with the context of [Hub.Start], or when a reader leaves. It ends when its
//     input is finished, by [Hub.Cancel], or pauses. [Hub.Close] pauses it so that another process,
//     or the next start of this one, resumes it.
//   - Each reader gets each fact of the session after its number once, in order, including facts
//     that other processes store.
//   - Nothing that a reader does blocks a run. A reader that is 1,024 to 2,048 events or 4 to 8 MiB
//     behind gets an [agent.Lagged], which says how many notes were left out. It misses no fact.
//     No more than that is kept in memory for a session, and nothing for one without readers.
//   - A reader that joins in the middle of a model call gets the reply so far, so that no text is
//     missing.
//   - Sessions that could continue but that no process drives are resumed, and so are those whose
//     pauses have expired: see [agent.Agent.Recover].
//
// # Where things are
//
// live.go has the hub, run.go its server, send.go messages to runs, may.go whether one of these may
// start a run, decide.go decisions and owners, topic.go what a run publishes, reader.go what a
// reader is shown, and partial.go the reply so far of a model call in progress.
package live
