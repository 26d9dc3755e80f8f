package telemetry

// Conventions names the version of OpenTelemetry's semantic conventions for generative AI
// (open-telemetry/semantic-conventions-genai) that the names in this file follow. It is the version
// of the instrumentation scope. They are "in development", so a later version of this package may
// have other names.
const Conventions = "genai-0.1.0"

// scope names this package as the instrumentation.
const scope = "github.com/pawlkit/pawl/agent/telemetry"

// Names of the conventions for generative AI.
const (
	attrOperation      = "gen_ai.operation.name"
	attrProvider       = "gen_ai.provider.name"
	attrConversation   = "gen_ai.conversation.id"
	attrAgent          = "gen_ai.agent.name"
	attrRequestModel   = "gen_ai.request.model"
	attrResponseModel  = "gen_ai.response.model"
	attrResponseID     = "gen_ai.response.id"
	attrFinishReasons  = "gen_ai.response.finish_reasons"
	attrInputTokens    = "gen_ai.usage.input_tokens"
	attrOutputTokens   = "gen_ai.usage.output_tokens"
	attrCacheRead      = "gen_ai.usage.cache_read.input_tokens"
	attrCacheWrite     = "gen_ai.usage.cache_write.input_tokens"
	attrReasoning      = "gen_ai.usage.reasoning.output_tokens"
	attrTool           = "gen_ai.tool.name"
	attrToolType       = "gen_ai.tool.type"
	attrToolCall       = "gen_ai.tool.call.id"
	attrArguments      = "gen_ai.tool.call.arguments"
	attrResult         = "gen_ai.tool.call.result"
	attrInputMessages  = "gen_ai.input.messages"
	attrOutputMessages = "gen_ai.output.messages"
	attrInstructions   = "gen_ai.system_instructions"
	attrModality       = "gen_ai.token.modality"
	attrError          = "error.type"
	attrExit           = "process.exit.code" // -1 if a signal ended the program

	opAgent = "invoke_agent"
	opChat  = "chat"
	opTool  = "execute_tool"

	metricInputTokens   = "gen_ai.client.inference.usage.input_tokens"
	metricOutputTokens  = "gen_ai.client.inference.usage.output_tokens"
	metricCacheRead     = "gen_ai.client.inference.usage.cache_read.input_tokens"
	metricCacheWrite    = "gen_ai.client.inference.usage.cache_write.input_tokens"
	metricReasoning     = "gen_ai.client.inference.usage.reasoning.output_tokens"
	metricDuration      = "gen_ai.client.inference.duration"
	metricFirstChunk    = "gen_ai.client.inference.time_to_first_chunk"
	metricAgentDuration = "gen_ai.invoke_agent.duration"
	metricToolDuration  = "gen_ai.execute_tool.duration"
)

// Names of Pawl's own, for what the conventions have no names for.
const (
	attrRun      = "pawl.run.id"
	attrParent   = "pawl.run.parent" // the tool call that a subagent's run belongs to
	attrTrace    = "pawl.trace.id"   // of the journal
	attrStatus   = "pawl.run.status"
	attrCode     = "pawl.run.code"
	attrSteps    = "pawl.run.steps"
	attrStep     = "pawl.step"
	attrOutcome  = "pawl.tool.status"
	attrCost     = "pawl.cost.usd"
	attrKind     = "pawl.kind"
	attrDecision = "pawl.decision"
	attrScope    = "pawl.scope"
	attrFrom     = "pawl.from"
	attrTo       = "pawl.to"
	attrName     = "pawl.name"
	attrState    = "pawl.state"
	attrLane     = "pawl.lane" // of a gate: interactive or background

	metricGateEvents   = "pawl.gate.events"
	metricBudgetEvents = "pawl.budget.events"
	metricBreaker      = "pawl.breaker.changes"
	metricAppend       = "pawl.journal.append.duration"
	metricApproval     = "pawl.approval.duration"
	metricCompactions  = "pawl.compactions"

	// Gauges, and what counts those that are missing.
	metricRuns        = "pawl.runs"
	metricQueueAge    = "pawl.queue.age"
	metricApprovals   = "pawl.approval.open"
	metricApprovalAge = "pawl.approval.age"
	metricLeases      = "pawl.leases"
	metricGateRunning = "pawl.gate.running"
	metricGateWaiting = "pawl.gate.waiting"
	metricGateAge     = "pawl.gate.age"
	metricGateSlots   = "pawl.gate.slots"
	metricTokensLeft  = "pawl.budget.left.tokens"
	metricTokensLimit = "pawl.budget.limit.tokens"
	metricMoneyLeft   = "pawl.budget.left.usd"
	metricMoneyLimit  = "pawl.budget.limit.usd"
	metricBreakers    = "pawl.breakers"
	metricGaugeErrors = "pawl.gauge.errors"
)

// Buckets of histograms, as the conventions advise.
var (
	bucketsSeconds = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	bucketsRun     = []float64{.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
	bucketsAppend  = []float64{.0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1, 5, 30}
	bucketsPeople  = []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
)

// providerNames are the names that the conventions give to providers, where they differ from those
// of the adapters.
var providerNames = map[string]string{
	"gemini":  "gcp.gemini",
	"vertex":  "gcp.vertex_ai",
	"bedrock": "aws.bedrock",
	"azure":   "azure.ai.openai",
	"mistral": "mistral_ai",
	"xai":     "x_ai",
}
