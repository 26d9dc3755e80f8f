// Package machine is the loop of an agent without its effects: a deterministic state machine over
// the facts of a session. It calls no model and no tool, reads no clock, and does no I/O. Package
// agent drives it; so can a workflow engine or a simulation.
//
// The central types are [Fact], something that has happened and is recorded in the session's
// journal, and [Machine], which folds facts into a [State] and says what has to happen next.
//
// # What hosts name
//
//   - the facts, from [RunStarted] to [RunEnded], with [Meta] and what they contain, such as
//     [ToolResult] and [Spent]
//   - [Pause] and [Decision], with their kinds
//   - [Limits], [Result], [Status] and the errors
//   - the codes of ends (CodeLimit and the others), of errors ([SessionCode], [DecisionError]) and
//     the names of limits (LimitSteps and the others)
//   - [Encode] and [Decode], which make records of facts, and facts of records
//
// Package agent exports the types among them as aliases; go doc shows the comment of an alias and
// not its type, so those comments name all fields and methods.
//
// # What is for tools that read logs
//
// [Replay] makes a machine of the facts of a session. [Machine.State] returns the [State], with
// its [RunState] and the [CallState] of each call of the newest reply, [Machine.Next] the [Action]
// that comes next, and [Machine.LastResult] the outcome of the newest run. [Conversation] and
// [EffectsOf] read facts without a machine. A host that runs agents needs none of this.
//
// # Driving a machine
//
// All other names are for drivers. A driver repeats three steps until the run is paused or has
// ended:
//
//	for {
//		action := m.Next()               // what has to happen now
//		facts := perform(action)         // call the model, run tools, …
//		m.Begin()
//		for _, f := range facts {
//			if err := m.Apply(f); err != nil { // f doesn't fit: it mustn't be stored
//				m.Rollback()
//				return err
//			}
//		}
//		if err := store(facts); err != nil { // Encode, then append to the journal
//			m.Rollback()
//			return err
//		}
//		m.End()
//		show(facts)                      // nobody sees a fact that isn't stored
//	}
//
// Before it stores a fact, a driver gives it the next number and the time ([Stamp]), redacts it
// ([Redactor.Fact]), and makes it small enough for a record ([Truncate]). After a crash, [Replay]
// rebuilds the machine from the stored facts, and Next says how to continue. [Decode] reads them.
//
// What each action asks for:
//
//	ActCallModel  Store StepStarted, call the model, and store Replied or StepFailed. Again says
//	              that the call was begun before and its reply was lost: store StepStarted with the
//	              same step again, and withdraw what was shown of the lost reply.
//	ActRunCalls   For each call, store ToolStarted, run the tool, and store ToolFinished. Store
//	              Suspended instead if a person must decide first, or ToolFinished alone if the
//	              call must not run. Calls may run in parallel; their facts may come in any order.
//	ActSettle     Store ToolFinished for each call. They don't run.
//	ActDoubt      For each call, store ToolStarted and run it again if it is repeatable. Otherwise
//	              store Suspended with PauseInDoubt, or ToolFinished with the status in_doubt.
//	ActWait       Store RunEnded with status Paused. Decided resumes the run.
//	ActFinish     Store RunEnded, or SentBack to keep a run from completing.
//
// Facts may also come from outside: Steered, ModeChanged, PhaseChanged, ToolsChanged,
// ContextResetRequested, Compacted, NoteWritten, RuleRevoked, TitleChanged, LabelChanged, Emitted,
// Undone, Snapshot, and RunEnded to stop or pause the run. A decision that can't be accepted is
// stored as Suspended with Pause.Replaces, which opens the same pause under another id: see
// [CallState.Reopened]. A paused run needs Continued first.
//
// # What must be stored first
//
//   - Every fact is stored before anyone sees it, and before anything happens because of it.
//   - RunStarted is stored before anything is done for the run. With a call, it makes that call as
//     a reply would, and the run completes when the call has its result.
//   - StepStarted is stored before the model is called. A call that is lost in a crash is made
//     again; at most, its price is paid twice.
//   - Replied is stored before any of its calls runs.
//   - ToolStarted is stored before the tool can have an effect. After a crash, a call that has
//     ToolStarted without ToolFinished is in doubt. It runs again only if it is repeatable or a
//     person says so.
//   - Suspended is stored before the pause is shown, and before the process may end.
//   - Decided is stored before its call runs. If the decision keeps the call from running, the
//     ToolFinished is stored in the same append.
//   - For a context reset, the NoteWritten, the RunEnded and the next RunStarted are stored in one
//     append.
//   - Snapshot is stored before the facts that come before it are deleted.
//
// # Guarantees
//
//   - The same facts make the same state, byte for byte as JSON, in any process. Replay runs
//     nothing.
//   - Apply refuses a fact that can't follow the facts before it, with a *[FactError], and changes
//     nothing then.
//   - Each call has exactly one result. When the model is called, the results of all earlier calls
//     are in the conversation, right after their reply and in call order.
//   - A call is started once, unless it is repeatable, a person let it run again, or it asked to
//     run again with an answer and has it. A call that was rejected is never started.
//   - A decision is used once, and only on a pause that it fits. An id of a pause is never used
//     again.
//   - Messages are only appended, except by compactions, context resets and runs that replace
//     others, so that prompt caches stay valid.
//   - A run ends: each of its loops is bounded by one of the [Limits] unless that limit is switched
//     off.
//   - Facts are never changed by the machine. It keeps references to their contents, so the caller
//     mustn't change them either.
//
// # Transitions
//
// The columns are the stages of the newest run ([Stage]), the time before the first run, and the
// statuses paused and ended ([Status]). A cell says which stage the fact leads to. "=" means that
// the stage stays, "-" that the fact is refused, "back" that the run returns to the stage in which
// it was paused, "starts" that it leads to ready, acting or paused, and "any" that a snapshot sets
// the stage. A slash separates outcomes that depend on the contents of the fact or of the state.
//
//	fact                  no run ready        calling        acting  replied      failed       paused ended
//	RunStarted            starts -            -              -       -            -            -      starts
//	StepStarted           -      calling      =              -       calling      -            -      -
//	Compacted             -      =            =              =       =            =            =      =
//	NoteWritten           -      =            =              =       =            =            -      -
//	Replied               -      -            acting/replied -       -            -            -      -
//	StepFailed            -      -            failed         -       -            -            =      -
//	ToolStarted           -      -            -              =       -            -            -      -
//	ToolFinished          -      -            -              =/ready -            -            =      -
//	Suspended             -      -            -              =       -            -            -      -
//	Decided               -      -            -              =       -            -            back   -
//	Steered               -      =            -              -       ready        -            -      -
//	SentBack              -      -            -              -       ready        -            -      -
//	ModeChanged           -      =            =              =       =            =            =      =
//	PhaseChanged          -      =            =              =       =            =            -      -
//	ContextResetRequested -      =            =              =       =            =            -      -
//	ToolsChanged          -      =            =              =       =            =            -      -
//	Continued             -      =            =              =       =            =            back   -
//	RuleRevoked           -      =            =              =       =            =            =      =
//	TitleChanged          -      =            =              =       =            =            =      =
//	LabelChanged          -      =            =              =       =            =            =      =
//	Emitted               -      =            =              =       =            =            =      =
//	Undone                -      -            -              -       -            -            -      =
//	Delivered             -      =            =              =       =            =            =      =
//	Snapshot              any    =            =              =       =            =            =      =
//	RunEnded              -      paused/ended paused/ended   paused  paused/ended paused/ended ended  paused
//
// In stage replied, StepStarted is accepted only if the provider has paused its reply and asks to
// be called again. Steered and SentBack lead to ready, from which the model is called again. A
// paused run accepts StepFailed and ToolFinished so that it can be ended: they close the open model
// call and the open calls. A queued run begins paused. One that has failed is paused again by a
// RunEnded with CodeQueued, and then is ready.
//
// # Changing the machine
//
//   - A new fact, a limit, or a code of an end: docs/maintaining.md has the steps, and which tests
//     fail until all is there.
//   - A new stage is a constant, a case in [Machine.Next], a column in the table above, and a value
//     that State.check accepts.
//   - A kind of fact or a transition that releases before don't know makes them refuse a session
//     that has it, and damages nothing. version_test.go fails until that is written down. [Version]
//     stays.
//   - A change that makes stored facts mean something else needs another [Version], and Decode then
//     has to read the versions before.
package machine
