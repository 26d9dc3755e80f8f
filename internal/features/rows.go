package features

import "github.com/pawlkit/pawl/provider"

type byAPI = map[string]string
type answers = map[string][2]string

const schema = `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`

// Addresses at which an API says more.
const (
	openAI     = "https://api.openai.com/v1"
	openRouter = "https://openrouter.ai/api/v1"
)

// rows are the rows of the table about requests and their fields, by their first cell.
var rows = map[string]row{
	"temperature, top_p": {
		ask: sampling(provider.Sampling{Temperature: new(0.5), TopP: new(0.9)}),
		said: byAPI{"Chat": `{"temperature":0.5,"top_p":0.9}`, "Responses": `{"temperature":0.5,"top_p":0.9}`,
			"Claude": `{"temperature":0.5,"top_p":0.9}`, "Gemini": `{"generationConfig":{"temperature":0.5,"topP":0.9}}`,
			"Converse": `{"inferenceConfig":{"temperature":0.5,"topP":0.9}}`},
	},
	"top_k": {
		ask:  sampling(provider.Sampling{TopK: new(40)}),
		said: byAPI{"Chat": `{"top_k":40}`, "Claude": `{"top_k":40}`, "Gemini": `{"generationConfig":{"topK":40}}`},
	},
	"seed": {
		ask:  sampling(provider.Sampling{Seed: new(int64(7))}),
		said: byAPI{"Chat": `{"seed":7}`, "Gemini": `{"generationConfig":{"seed":7}}`},
	},
	"penalties": {
		ask: sampling(provider.Sampling{PresencePenalty: new(0.5), FrequencyPenalty: new(0.25)}),
		said: byAPI{"Chat": `{"presence_penalty":0.5,"frequency_penalty":0.25}`,
			"Gemini": `{"generationConfig":{"presencePenalty":0.5,"frequencyPenalty":0.25}}`},
	},
	"stop sequences": {
		ask: sampling(provider.Sampling{Stop: []string{"END"}}),
		said: byAPI{"Chat": `{"stop":["END"]}`, "Claude": `{"stop_sequences":["END"]}`,
			"Gemini": `{"generationConfig":{"stopSequences":["END"]}}`, "Converse": `{"inferenceConfig":{"stopSequences":["END"]}}`},
	},
	"limit of the output": {
		ask: func(req *provider.Request) { req.MaxOutput = 77 },
		said: byAPI{"Chat": `{"max_tokens":77}`, "Responses": `{"max_output_tokens":77}`, "Claude": `{"max_tokens":77}`,
			"Gemini": `{"generationConfig":{"maxOutputTokens":77}}`, "Converse": `{"inferenceConfig":{"maxTokens":77}}`},
	},
	"structured output": {
		ask: output,
		said: byAPI{"Chat": `{"response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":` + schema + `}}}`,
			"Responses": `{"text":{"format":{"type":"json_schema","strict":true,"schema":` + schema + `}}}`,
			"Claude":    `{"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"Gemini":    `{"generationConfig":{"responseJsonSchema":` + schema + `}}`,
			"Converse":  `~JSON Schema, and with nothing else`},
	},
	"choice of tools": {
		ask:  choosing(provider.ToolChoice{Mode: provider.ChooseTool, Tool: "find"}),
		with: withTool,
		said: byAPI{"Chat": `{"tool_choice":{"type":"function","function":{"name":"find"}}}`,
			"Responses": `{"tool_choice":{"type":"function","name":"find"}}`, "Claude": `{"tool_choice":{"type":"tool","name":"find"}}`,
			"Gemini":   `{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["find"]}}}`,
			"Converse": `{"toolConfig":{"toolChoice":{"tool":{"name":"find"}}}}`},
	},
	"no calls now": {
		ask:  choosing(provider.ToolChoice{Mode: provider.ChooseNone}),
		with: func(req *provider.Request) { withTool(req); called(req) },
		said: byAPI{"Chat": `{"tool_choice":"none"}`, "Responses": `{"tool_choice":"none"}`,
			"Claude": `{"tool_choice":{"type":"none"}}`, "Gemini": `{"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`},
	},
	"one call at a time": {
		ask:  func(req *provider.Request) { req.DisableParallelToolCalls = true },
		with: withTool,
		said: byAPI{"Chat": `{"parallel_tool_calls":false}`, "Responses": `{"parallel_tool_calls":false}`,
			"Claude": `{"tool_choice":{"disable_parallel_tool_use":true}}`},
	},
	"strict tools": {
		tool: byAPI{"Chat": `{"strict":true}`, "Responses": `{"strict":true}`, "Claude": `{"strict":true}`,
			"Converse": `{"strict":true}`},
	},
	"tools that are loaded later": {tool: byAPI{"Responses": `{"defer_loading":true}`,
		"Claude": `{"defer_loading":true}`}},
	"callers of a tool": {tool: byAPI{"Responses": `{"allowed_callers":["programmatic"]}`,
		"Claude": `{"allowed_callers":["code_execution_20250825"]}`}},
	"examples of input": {tool: byAPI{"Claude": `{"input_examples":[{"q":"a"}]}`}},
	"schema of a tool's output": {tool: byAPI{"Responses": `{"output_schema":{"type":"string"}}`,
		"Gemini": `{"responseJsonSchema":{"type":"string"}}`}},
	"marks for the cache": {
		ask: marked,
		at:  byAPI{"Chat": openRouter},
		said: byAPI{"Chat": `{"messages":[{"content":[{"text":"Hello.","cache_control":{"type":"ephemeral"}}]}]}`,
			"Claude": `{"messages":[{"content":[{"text":"Hello.","cache_control":{"type":"ephemeral"}}]}]}`},
	},
	"cache of the prompt": {
		ask: cached,
		at:  byAPI{"Chat": openAI, "Responses": openAI},
		said: byAPI{"Chat": `~"prompt_cache_key":"pawl-`, "Responses": `~"prompt_cache_key":"pawl-`,
			"Claude": `~"cache_control":{"type":"ephemeral"}`},
	},
	"effort of reasoning": {
		ask: reasoning(provider.ReasoningOptions{Effort: "high"}),
		said: byAPI{"Chat": `{"reasoning_effort":"high"}`, "Responses": `{"reasoning":{"effort":"high"}}`,
			"Claude": `{"output_config":{"effort":"high"}}`, "Gemini": `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`},
	},
	"budget of reasoning": {
		ask: reasoning(provider.ReasoningOptions{Budget: 2048}),
		said: byAPI{"Chat": `{"reasoning_effort":"low"}`, "Responses": `{"reasoning":{"effort":"low"}}`,
			"Claude": `{"thinking":{"type":"enabled","budget_tokens":2048}}`,
			"Gemini": `{"generationConfig":{"thinkingConfig":{"thinkingBudget":2048}}}`},
		model: byAPI{"Gemini": "gemini-2.5-flash"},
	},
	"hidden reasoning": {
		ask:  reasoning(provider.ReasoningOptions{Effort: "high", Hide: true}),
		with: reasoning(provider.ReasoningOptions{Effort: "high"}),
		at:   byAPI{"Chat": openRouter},
		said: byAPI{"Chat": `{"reasoning":{"exclude":true}}`, "Responses": `!"summary"`,
			"Claude": `{"thinking":{"display":"omitted"}}`, "Gemini": `!"includeThoughts":true`},
	},
	"images in": {
		ask: media("image/png"),
		said: byAPI{"Chat": `~"image_url"`, "Responses": `~"input_image"`, "Claude": `~"type":"image"`,
			"Gemini": `~"mimeType":"image/png"`, "Converse": `~"image":{"format":"png"`},
	},
	"PDF in": {
		ask: media("application/pdf"),
		said: byAPI{"Chat": `~"file_data"`, "Responses": `~"input_file"`, "Claude": `~"type":"document"`,
			"Gemini": `~"mimeType":"application/pdf"`, "Converse": `~"document":{"format":"pdf"`},
	},
	"audio in": {
		ask:  media("audio/wav"),
		said: byAPI{"Chat": `~"input_audio"`, "Responses": `~"input_audio"`, "Gemini": `~"mimeType":"audio/wav"`},
	},
	"video in": {ask: media("video/mp4"), said: byAPI{"Chat": `~"video_url"`, "Gemini": `~"mimeType":"video/mp4"`}},
	"images out": {
		ask: func(req *provider.Request) { req.Images = &provider.ImageOptions{} },
		said: byAPI{"Chat": `{"prompt":"Hello."}`, "Responses": `{"prompt":"Hello."}`,
			"Gemini": `{"generationConfig":{"responseModalities":["IMAGE"]}}`},
		model: byAPI{"Gemini": "gemini-2.5-flash-image", "Chat": "gpt-image-1", "Responses": "gpt-image-1"},
		read: answers{
			"Chat": {chat(`,"images":[{"image_url":{"url":"data:image/png;base64,iVBORw=="}}]`, "", ""), `"data":"iVBORw=="`},
			"Responses": {responses(`{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw=="},`, "", ""),
				`"data":"iVBORw=="`},
			"Gemini": {gemini(`{"inlineData":{"mimeType":"image/png","data":"iVBORw=="}},`, "", ""), `"data":"iVBORw=="`},
		},
	},
	"audio out": {
		options: byAPI{"Chat": `{"modalities":["text","audio"],"audio":{"voice":"alloy","format":"wav"}}`,
			"Gemini": `{"generationConfig":{"responseModalities":["AUDIO"]}}`},
		read: answers{"Chat": {chat(`,"audio":{"id":"au_1","data":"UklGRg==","transcript":"Hi."}`, "", ""), `"type":"audio/wav"`},
			"Gemini": {gemini(`{"inlineData":{"mimeType":"audio/pcm","data":"AAAA"}},`, "", ""), `"type":"audio/pcm"`}},
	},
}
