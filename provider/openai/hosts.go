package openai

import (
	"cmp"
	"net/url"
	"strings"
)

// A host is the known properties of a server: where its key comes from, and how its Chat
// Completions differ from OpenAI's.
type host struct {
	name     string // of the provider
	own      bool   // OpenAI itself
	env      string // the environment variable of the key; empty: none is known
	keys     string // the page where a person gets a key
	billing  string // the page where a person pays
	needsKey bool
	keyAlso  string // a header with the key, in addition to Authorization

	completionTokens bool // accepts max_completion_tokens, and rejects max_tokens for some models
	noStreamOptions  bool // rejects stream_options; always sends usage
	topK             bool // accepts top_k
	seed             string
	reasoning        reasoningStyle
	cacheMarks       bool                   // accepts cache_control on parts
	callIDs          func(id string) string // makes acceptable ids of calls; nil: any id is accepted
	noUserAfterTool  bool                   // rejects a user message right after results
	refusals         bool                   // accepts refusal in assistant messages
}

type reasoningStyle int

const (
	effortWord   reasoningStyle = iota // reasoning_effort: a word
	effortObject                       // reasoning: {effort, max_tokens, exclude}
)

// known are the known servers; suffix is the end of the host's name.
var known = []struct {
	suffix string
	host
}{
	{"api.openai.com",
		host{name: "openai", own: true, env: "OPENAI_API_KEY", keys: "https://platform.openai.com/api-keys",
			billing: "https://platform.openai.com/settings/organization/billing", needsKey: true,
			completionTokens: true, refusals: true, callIDs: shortIDs}},
	{".openai.azure.com", azure}, {".cognitiveservices.azure.com", azure}, {".services.ai.azure.com", azure},
	{"openrouter.ai", host{env: "OPENROUTER_API_KEY", keys: "https://openrouter.ai/settings/keys",
		billing:  "https://openrouter.ai/settings/credits",
		needsKey: true, topK: true, reasoning: effortObject, cacheMarks: true}},
	{"api.groq.com",
		host{env: "GROQ_API_KEY", keys: "https://console.groq.com/keys", needsKey: true, completionTokens: true}},
	{"api.mistral.ai",
		host{env: "MISTRAL_API_KEY", keys: "https://console.mistral.ai/api-keys", needsKey: true, noStreamOptions: true,
			seed: "random_seed", callIDs: nineCharIDs, noUserAfterTool: true}},
	{"api.deepseek.com", host{env: "DEEPSEEK_API_KEY", keys: "https://platform.deepseek.com/api_keys",
		billing: "https://platform.deepseek.com/top_up", needsKey: true}},
	{"api.x.ai", host{env: "XAI_API_KEY", keys: "https://console.x.ai", needsKey: true}},
	{"api.perplexity.ai",
		host{env: "PERPLEXITY_API_KEY", keys: "https://www.perplexity.ai/settings/api", needsKey: true, topK: true}},
	{"api.together.ai", together}, {"api.together.xyz", together},
	{"api.fireworks.ai",
		host{env: "FIREWORKS_API_KEY", keys: "https://fireworks.ai/account/api-keys", needsKey: true, topK: true}},
	{"api.cerebras.ai",
		host{env: "CEREBRAS_API_KEY", keys: "https://cloud.cerebras.ai", needsKey: true, completionTokens: true}},
	{"api.moonshot.ai",
		host{env: "MOONSHOT_API_KEY", keys: "https://platform.moonshot.ai/console/api-keys", needsKey: true}},
	{"api.z.ai", host{env: "ZAI_API_KEY", keys: "https://z.ai/manage-apikey/apikey-list", needsKey: true}},
	{"router.huggingface.co", host{env: "HF_TOKEN", keys: "https://huggingface.co/settings/tokens", needsKey: true}},
}

var (
	// Azure takes the key of a resource in its own header, and the token of a user or a service in
	// Authorization.
	azure = host{env: "AZURE_OPENAI_API_KEY", keys: "https://portal.azure.com (Keys and Endpoint of the resource)",
		needsKey: true,
		keyAlso:  "Api-Key", completionTokens: true, refusals: true, callIDs: shortIDs}
	together = host{env: "TOGETHER_API_KEY", keys: "https://api.together.ai/settings/api-keys", needsKey: true,
		topK: true}
)

// hostOf returns the properties of the server at u. A server that isn't in the table gets the zero
// value: it may need no key, and gets requests in the most common form.
func hostOf(u *url.URL) host {
	name := strings.ToLower(u.Hostname())
	h := host{topK: true}
	for _, k := range known {
		if name == k.suffix || strings.HasPrefix(k.suffix, ".") && strings.HasSuffix(name, k.suffix) {
			h = k.host
			break
		}
	}
	h.name, h.seed = cmp.Or(h.name, name), cmp.Or(h.seed, "seed")
	return h
}

// isReasoningModel reports whether a model of OpenAI reasons, judging by its name. Such models take
// the instructions as the developer's, and return encrypted reasoning; others reject a request for
// that.
func isReasoningModel(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	model = strings.TrimPrefix(model, "ft:")
	if len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9' {
		return true
	}
	version, ok := strings.CutPrefix(model, "gpt-")
	return strings.HasPrefix(model, "codex-") || ok && len(version) > 0 && version[0] >= '5' && version[0] <= '9' &&
		!strings.Contains(model, "-chat")
}

// supportsEncryptedReasoning reports whether a model can return encrypted reasoning: all but those
// known not to reason.
func supportsEncryptedReasoning(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	return isReasoningModel(model) || !strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "chatgpt-") &&
		!strings.HasPrefix(model, "ft:gpt-")
}
