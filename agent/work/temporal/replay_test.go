package temporal

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pawlkit/pawl/agent"
)

// A written history is one as a server writes it.
type written struct {
	t      *testing.T
	events []*historypb.HistoryEvent
}

// add adds an event and returns its number.
func (h *written) add(kind enumspb.EventType, ev *historypb.HistoryEvent) int64 {
	ev.EventId, ev.EventType = int64(len(h.events)+1), kind
	ev.EventTime = timestamppb.New(time.Date(2026, 1, 1, 0, 0, len(h.events), 0, time.UTC))
	h.events = append(h.events, ev)
	return ev.EventId
}

func (h *written) payloads(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	require.NoError(h.t, err)
	return p
}

// task adds a workflow task, and returns the number of its end.
func (h *written) task() int64 {
	scheduled := h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
			WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{}}})
	started := h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{
				ScheduledEventId: scheduled}}})
	return h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
				ScheduledEventId: scheduled, StartedEventId: started}}})
}

// leg adds an activity that a workflow task has scheduled.
func (h *written) leg(task int64, id string, args legArgs, out progress) {
	scheduled := h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{ActivityId: id,
				ActivityType: &commonpb.ActivityType{Name: legName}, Input: h.payloads(args),
				TaskQueue: &taskqueuepb.TaskQueue{Name: "agents"}, WorkflowTaskCompletedEventId: task}}})
	started := h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{
				ScheduledEventId: scheduled}}})
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{
				ScheduledEventId: scheduled, StartedEventId: started, Result: h.payloads(out)}}})
}

// historyOf returns a history of a run: a leg, another, a wait for a decision that a signal ends,
// and the last leg.
func historyOf(t *testing.T, in agent.Input) *historypb.History {
	h := &written{t: t}
	r, err := NewRun("clerk", in, agent.Leg{Steps: 5})
	require.NoError(t, err)
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: workflowName}, Input: h.payloads(r), Attempt: 1,
				TaskQueue: &taskqueuepb.TaskQueue{Name: "agents"}, OriginalExecutionRunId: "r-1"}}})
	stands := func(next agent.Next, status agent.Status) progress {
		return progress{Ended: Ended{Session: "s", Run: "r", Status: status}, Next: next}
	}
	h.leg(h.task(), "5", legArgs{Run: r}, stands(agent.NextAgain, agent.Paused))
	r.Input = nil
	h.leg(h.task(), "11", legArgs{Run: r}, stands(agent.NextWait, agent.Paused))
	timer := h.add(enumspb.EVENT_TYPE_TIMER_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_TimerStartedEventAttributes{
			TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{TimerId: "17",
				StartToFireTimeout: durationpb.New(firstPoll), WorkflowTaskCompletedEventId: h.task()}}})
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{
				SignalName: signalName, Input: h.payloads(decided)}}})
	task := h.task()
	h.add(enumspb.EVENT_TYPE_TIMER_CANCELED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_TimerCanceledEventAttributes{
			TimerCanceledEventAttributes: &historypb.TimerCanceledEventAttributes{TimerId: "17",
				StartedEventId: timer, WorkflowTaskCompletedEventId: task}}})
	h.leg(task, "23", legArgs{Run: r}, stands(agent.NextEnded, agent.Completed))
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
				Result:                       h.payloads(stands(agent.NextEnded, agent.Completed).Ended),
				WorkflowTaskCompletedEventId: h.task()}}})
	return &historypb.History{Events: h.events}
}

// replay has the SDK's replayer compare the commands of the workflow with the events of a history.
func replay(history *historypb.History) error {
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: workflowName})
	return replayer.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history)
}

// TestAHistoryIsReplayed fails if the workflow has changed, so that open workflows would fail: see
// workflow.GetVersion.
func TestAHistoryIsReplayed(t *testing.T) {
	history := historyOf(t, first)
	require.NoError(t, replay(history))
	t.Log(len(history.Events), "events,", proto.Size(history), "bytes")
	require.Less(t, proto.Size(history), 5000)

	history.Events[5-1].GetActivityTaskScheduledEventAttributes().ActivityType.Name = "another"
	require.Error(t, replay(history))
}
