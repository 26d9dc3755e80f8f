package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// The last Go release with names for generative AI agrees where the conventions haven't changed
// since.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	for own, theirs := range map[string]string{
		attrOperation: string(semconv.GenAIOperationNameKey), attrProvider: string(semconv.GenAIProviderNameKey),
		attrConversation: string(semconv.GenAIConversationIDKey),
		attrAgent:        string(semconv.GenAIAgentNameKey), attrRequestModel: string(semconv.GenAIRequestModelKey),
		attrResponseModel: string(semconv.GenAIResponseModelKey),
		attrResponseID:    string(semconv.GenAIResponseIDKey),
		attrFinishReasons: string(semconv.GenAIResponseFinishReasonsKey),
		attrInputTokens:   string(semconv.GenAIUsageInputTokensKey),
		attrOutputTokens:  string(semconv.GenAIUsageOutputTokensKey), attrTool: string(semconv.GenAIToolNameKey),
		attrToolType: string(semconv.GenAIToolTypeKey),
		attrToolCall: string(semconv.GenAIToolCallIDKey), attrArguments: string(semconv.GenAIToolCallArgumentsKey),
		attrResult:         string(semconv.GenAIToolCallResultKey),
		attrInputMessages:  string(semconv.GenAIInputMessagesKey),
		attrOutputMessages: string(semconv.GenAIOutputMessagesKey),
		attrInstructions:   string(semconv.GenAISystemInstructionsKey),
		attrError:          string(semconv.ErrorTypeKey),
		attrExit:           string(semconv.ProcessExitCodeKey),
		opAgent:            semconv.GenAIOperationNameInvokeAgent.Value.AsString(),
		opChat:             semconv.GenAIOperationNameChat.Value.AsString(),
		opTool:             semconv.GenAIOperationNameExecuteTool.Value.AsString(),
	} {
		require.Equal(t, theirs, own)
	}
}
