package features

import "maps"

func init() { maps.Copy(rows, more) }

// more are the rows about answers, and about what only options say.
var more = map[string]row{
	"usage and cached tokens": {read: answers{"Chat": {chat("", "", ""), `"cache_read":7`},
		"Responses": {responses("", "", ""), `"cache_read":7`}, "Claude": {claude("", "", ""), `"cache_read":7`},
		"Gemini": {gemini("", "", ""), `"cache_read":7`}, "Converse": {converse("", ""), `"cache_read":7`}}},
	"reasoning": {read: answers{
		"Chat":      {chat(`,"reasoning":"Hm."`, "", ""), `"kind":"reasoning","text":"Hm."`},
		"Responses": {responses(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}]},`, "", ""), `"kind":"reasoning","text":"Hm."`},
		"Claude":    {claude(`{"type":"thinking","thinking":"Hm.","signature":"c2ln"},`, "", ""), `"kind":"reasoning","text":"Hm."`},
		"Gemini":    {gemini(`{"text":"Hm.","thought":true},`, "", ""), `"kind":"reasoning","text":"Hm."`},
		"Converse":  {converse(`{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},`, ""), `"kind":"reasoning","text":"Hm."`},
	}},
	"citations": {
		options: byAPI{"Chat": `{"web_search_options":{}}`},
		read: answers{
			"Chat":      {chat(`,"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":3}}]`, "", ""), `"url":"https://a.example"`},
			"Responses": {responses("", `,"annotations":[{"type":"url_citation","url":"https://a.example","title":"A","start_index":0,"end_index":3}]`, ""), `"url":"https://a.example"`},
			"Claude":    {claude("", `,"citations":[{"type":"web_search_result_location","url":"https://a.example","title":"A","cited_text":"x"}]`, ""), `"url":"https://a.example"`},
			"Gemini":    {gemini("", `,"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}}]}`, ""), `"url":"https://a.example"`},
			"Converse":  {converse(`{"citationsContent":{"content":[{"text":"Hi."}],"citations":[{"title":"A","location":{"web":{"url":"https://a.example"}}}]}},`, ""), `"url":"https://a.example"`},
		},
	},
	"the provider's own tools": {
		options: byAPI{"Chat": `{"tools":[{"type":"openrouter:web_search"}]}`, "Responses": `{"tools":[{"type":"web_search"}]}`,
			"Claude": `{"tools":[{"type":"web_search_20250305","name":"web_search"}]}`, "Gemini": `{"tools":[{"googleSearch":{}}]}`},
		read: answers{
			"Responses": {responses(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},`, "", ""), `"kind":"provider_call"`},
			"Claude": {claude(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},`+
				`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},`, "", ""), `"kind":"provider_call"`},
			"Gemini": {gemini(`{"executableCode":{"language":"PYTHON","code":"1"}},`, "", ""), `"kind":"provider_call"`},
		},
	},
	"the maker's tools that the host runs": {tool: byAPI{
		"Chat": `{"type":"custom","custom":{"format":{"type":"text"}}}`, "Responses": `{"type":"shell"}`,
		"Claude": `{"type":"bash_20250124"}`}},
	"MCP servers of the provider": {options: byAPI{
		"Responses": `{"tools":[{"type":"mcp","server_label":"a","server_url":"https://a.example"}]}`,
		"Claude":    `{"mcp_servers":[{"type":"url","name":"a","url":"https://a.example"}]}`},
		read: answers{
			"Responses": {responses(`{"type":"mcp_call","id":"mcp_1","server_label":"a","name":"f","arguments":"{}","output":"x"},`, "", ""), `"kind":"provider_call"`},
			"Claude": {claude(`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"f","server_name":"a","input":{}},`+
				`{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","content":[]},`, "", ""), `"kind":"provider_call"`},
		},
	},
	"service tier": {
		options: byAPI{"Chat": `{"service_tier":"flex"}`, "Responses": `{"service_tier":"flex"}`,
			"Claude": `{"service_tier":"standard_only"}`, "Gemini": `{"serviceTier":"FLEX"}`,
			"Converse": `{"serviceTier":{"type":"flex"}}`},
		read: answers{"Chat": {chat("", "", `,"service_tier":"flex"`), `"service_tier":"flex"`},
			"Responses": {responses("", "", `,"service_tier":"flex"`), `"service_tier":"flex"`},
			"Claude":    {claude("", "", ""), `"details":{"service_tier":"standard"}`},
			"Gemini":    {gemini("", "", ""), `"details":{"serviceTier":"STANDARD"}`},
			"Converse":  {converse("", `,"serviceTier":{"type":"flex"}`), `"serviceTier":{"type":"flex"}`}},
	},
	"log probabilities": {
		options: byAPI{"Chat": `{"logprobs":true,"top_logprobs":2}`,
			"Responses": `{"include":["message.output_text.logprobs"],"top_logprobs":2}`,
			"Gemini":    `{"generationConfig":{"responseLogprobs":true,"logprobs":2}}`},
		read: answers{"Chat": {chat("", `,"logprobs":{"content":[{"token":"Hi","logprob":-0.5}]}`, ""), `"logprobs":{"content":[{`},
			"Responses": {responses("", `,"logprobs":[{"token":"Hi","logprob":-0.5}]`, ""), `"logprobs":[{`},
			"Gemini":    {gemini("", `,"avgLogprobs":-0.5,"logprobsResult":{"chosenCandidates":[{"token":"Hi"}]}`, ""), `"logprobsResult":{"chosenCandidates":[{`}},
	},
	"moderation, safety, guardrails": {
		options: byAPI{"Chat": `{"moderation":{"model":"omni-moderation-latest"}}`,
			"Responses": `{"moderation":{"model":"omni-moderation-latest"}}`,
			"Gemini":    `{"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]}`,
			"Converse":  `{"guardrailConfig":{"guardrailIdentifier":"g","guardrailVersion":"1","trace":"enabled"}}`},
		read: answers{"Chat": {chat("", `,"content_filter_results":{"hate":{"filtered":false}}`, ""), `"content_filter_results":{"hate"`},
			"Responses": {responses("", "", `,"moderation":{"flagged":false}`), `"moderation":{"flagged":false}`},
			"Gemini":    {gemini("", `,"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"LOW"}]`, ""), `"safetyRatings":[{`},
			"Converse":  {converse("", `,"trace":{"guardrail":{"actionReason":"x"}}`), `"trace":{"guardrail"`}},
	},
	"several choices": {options: byAPI{"Chat": `{"n":2}`, "Gemini": `{"generationConfig":{"candidateCount":2}}`}},
	"metadata, safety identifier": {options: byAPI{"Chat": `{"metadata":{"a":"b"},"safety_identifier":"u"}`,
		"Responses": `{"metadata":{"a":"b"},"safety_identifier":"u"}`, "Claude": `{"metadata":{"user_id":"u"}}`,
		"Gemini": `{"labels":{"a":"b"}}`, "Converse": `{"requestMetadata":{"a":"b"}}`}},
	"verbosity": {options: byAPI{"Chat": `{"verbosity":"low"}`, "Responses": `{"text":{"verbosity":"low"}}`}},
	"conversation at the server": {options: byAPI{"Responses": `{"previous_response_id":"resp_1","store":true}`},
		read: answers{"Responses": {responses("", "", `,"conversation":{"id":"conv_1"}`),
			`"conversation":{"id":"conv_1"}`}}},
	"background mode":  {options: byAPI{"Responses": `{"background":true}`}},
	"prompt templates": {options: byAPI{"Responses": `{"prompt":{"id":"pmpt_1"}}`}},
	"container of code": {
		options: byAPI{"Responses": `{"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}`,
			"Claude": `{"container":"cont_1"}`},
		read: answers{"Responses": {responses(`{"type":"code_interpreter_call","id":"ci_1","status":"completed","code":"1","container_id":"cntr_1","outputs":[]},`, "", ""), `cntr_1`},
			"Claude": {claude("", "", `,"container":{"id":"cont_1","expires_at":"2099-01-01T00:00:00Z"}`), `"container":{"id":"cont_1"`}},
	},
	"edits and compaction of the context": {
		options: byAPI{"Responses": `{"context_management":[{"type":"compaction","compact_threshold":1000}]}`,
			"Claude": `{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}}`},
		read: answers{"Responses": {responses(`{"type":"compaction","id":"cmp_1","encrypted_content":"c2Vj"},`, "", ""), `c2Vj`},
			"Claude": {claude("", "", `,"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919"}]}`), `"applied_edits":[{`}},
	},
}
