package servers

// All are the servers in the order of docs/providers.md: first OpenAI, OpenRouter and Ollama, which
// the environment also chooses by their keys or addresses, then those that it chooses by their
// models.
var All = []Server{
	{
		Name: "openai", Title: "OpenAI", Hosts: []string{"api.openai.com"}, URL: "https://api.openai.com/v1",
		Key: "OPENAI_API_KEY", Model: "OPENAI_MODEL", Address: "OPENAI_BASE_URL",
		KeyPage: "https://platform.openai.com/api-keys",
		Billing: "https://platform.openai.com/settings/organization/billing",
		Chat:    Chat{CompletionTokens: true, Refusals: true, ShortIDs: true},
	},
	{
		Name: "openrouter", Title: "OpenRouter", Hosts: []string{"openrouter.ai"}, URL: "https://openrouter.ai/api/v1",
		Key: "OPENROUTER_API_KEY", Model: "OPENROUTER_MODEL", Address: "OPENROUTER_BASE_URL",
		KeyPage: "https://openrouter.ai/settings/keys", Billing: "https://openrouter.ai/settings/credits",
		Chat: Chat{TopK: true, EffortObject: true, CacheMarks: true},
	},
	{
		Name: "ollama", Title: "Ollama", URL: "http://localhost:11434/v1",
		Path: "/v1", AnyPath: true, Port: "11434",
		Key: "OLLAMA_API_KEY", Model: "OLLAMA_MODEL", Address: "OLLAMA_HOST", Keyless: true,
		Chat: Chat{TopK: true, OnlyAuto: true},
	},

	{
		Name: "azure", Title: "Azure OpenAI",
		Hosts: []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"},
		URL:   "https://NAME.openai.azure.com/openai/v1", URLIsExample: true, Path: "/openai/v1",
		// Azure takes the key of a resource in its own header, and the token of a user or a service
		// in Authorization.
		Key: "AZURE_OPENAI_API_KEY", KeyHeader: "Api-Key", Model: "AZURE_OPENAI_MODEL",
		Address: "AZURE_OPENAI_ENDPOINT", KeyPage: "https://portal.azure.com (Keys and Endpoint of the resource)",
		Chat: Chat{CompletionTokens: true, Refusals: true, ShortIDs: true},
	},
	{
		Name: "cerebras", Title: "Cerebras", Hosts: []string{"api.cerebras.ai"}, URL: "https://api.cerebras.ai/v1",
		Key: "CEREBRAS_API_KEY", Model: "CEREBRAS_MODEL", Address: "CEREBRAS_BASE_URL",
		KeyPage: "https://cloud.cerebras.ai",
		Chat:    Chat{CompletionTokens: true, NoParallelField: true},
	},
	{
		Name: "deepseek", Title: "DeepSeek", Hosts: []string{"api.deepseek.com"}, URL: "https://api.deepseek.com",
		Key: "DEEPSEEK_API_KEY", Model: "DEEPSEEK_MODEL", Address: "DEEPSEEK_BASE_URL",
		KeyPage: "https://platform.deepseek.com/api_keys", Billing: "https://platform.deepseek.com/top_up",
		Chat: Chat{JSONObject: true},
	},
	{
		Name: "fireworks", Title: "Fireworks", Hosts: []string{"api.fireworks.ai"},
		URL: "https://api.fireworks.ai/inference/v1",
		Key: "FIREWORKS_API_KEY", Model: "FIREWORKS_MODEL", Address: "FIREWORKS_BASE_URL",
		KeyPage: "https://fireworks.ai/account/api-keys",
		Chat:    Chat{TopK: true},
	},
	{
		Name: "github", Title: "GitHub Models", Hosts: []string{"models.github.ai"},
		URL: "https://models.github.ai/inference",
		// GITHUB_TOKEN is in many environments for another purpose, so it isn't read.
		Key: "GITHUB_MODELS_TOKEN", Model: "GITHUB_MODELS_MODEL", Address: "GITHUB_MODELS_BASE_URL",
		KeyPage: "https://github.com/settings/personal-access-tokens",
		Chat:    Chat{NoNamedChoice: true},
	},
	{
		Name: "groq", Title: "Groq", Hosts: []string{"api.groq.com"}, URL: "https://api.groq.com/openai/v1",
		Key: "GROQ_API_KEY", Model: "GROQ_MODEL", Address: "GROQ_BASE_URL", KeyPage: "https://console.groq.com/keys",
		Chat: Chat{CompletionTokens: true},
	},
	{
		Name: "huggingface", Title: "Hugging Face", Hosts: []string{"router.huggingface.co"},
		URL: "https://router.huggingface.co/v1",
		Key: "HF_TOKEN", Model: "HF_MODEL", Address: "HF_BASE_URL", KeyPage: "https://huggingface.co/settings/tokens",
	},
	{
		Name: "llamacpp", Title: "llama.cpp", URL: "http://localhost:8080/v1", Path: "/v1",
		Key: "LLAMACPP_API_KEY", Model: "LLAMACPP_MODEL", Address: "LLAMACPP_BASE_URL", Keyless: true,
		Chat: Chat{TopK: true},
	},
	{
		Name: "lmstudio", Title: "LM Studio", URL: "http://localhost:1234/v1", Path: "/v1",
		Key: "LMSTUDIO_API_KEY", Model: "LMSTUDIO_MODEL", Address: "LMSTUDIO_BASE_URL", Keyless: true,
		Chat: Chat{TopK: true, NoNamedChoice: true},
	},
	{
		Name: "mistral", Title: "Mistral", Hosts: []string{"api.mistral.ai"}, URL: "https://api.mistral.ai/v1",
		Key: "MISTRAL_API_KEY", Model: "MISTRAL_MODEL", Address: "MISTRAL_BASE_URL",
		KeyPage: "https://console.mistral.ai/api-keys",
		Chat:    Chat{NoStreamOptions: true, Seed: "random_seed", NineCharIDs: true, NoUserAfterTool: true},
	},
	{
		Name: "moonshot", Title: "Moonshot", Hosts: []string{"api.moonshot.ai"}, URL: "https://api.moonshot.ai/v1",
		Key: "MOONSHOT_API_KEY", Model: "MOONSHOT_MODEL", Address: "MOONSHOT_BASE_URL",
		KeyPage: "https://platform.moonshot.ai/console/api-keys",
	},
	{
		Name: "perplexity", Title: "Perplexity", Hosts: []string{"api.perplexity.ai"}, URL: "https://api.perplexity.ai",
		Key: "PERPLEXITY_API_KEY", Model: "PERPLEXITY_MODEL", Address: "PERPLEXITY_BASE_URL",
		KeyPage: "https://www.perplexity.ai/settings/api",
		Chat:    Chat{TopK: true},
	},
	{
		Name: "together", Title: "Together", Hosts: []string{"api.together.ai", "api.together.xyz"},
		URL: "https://api.together.ai/v1",
		Key: "TOGETHER_API_KEY", Model: "TOGETHER_MODEL", Address: "TOGETHER_BASE_URL",
		KeyPage: "https://api.together.ai/settings/api-keys",
		Chat:    Chat{TopK: true},
	},
	{
		Name: "vllm", Title: "vLLM", URL: "http://localhost:8000/v1", Path: "/v1",
		Key: "VLLM_API_KEY", Model: "VLLM_MODEL", Address: "VLLM_BASE_URL", Keyless: true,
		Chat: Chat{TopK: true},
	},
	{
		Name: "xai", Title: "xAI", Hosts: []string{"api.x.ai"}, URL: "https://api.x.ai/v1",
		Key: "XAI_API_KEY", Model: "XAI_MODEL", Address: "XAI_BASE_URL", KeyPage: "https://console.x.ai",
	},
	{
		Name: "zai", Title: "Z.ai", Hosts: []string{"api.z.ai"}, URL: "https://api.z.ai/api/paas/v4",
		Key: "ZAI_API_KEY", Model: "ZAI_MODEL", Address: "ZAI_BASE_URL",
		KeyPage: "https://z.ai/manage-apikey/apikey-list",
		Chat:    Chat{JSONObject: true, OnlyAuto: true},
	},
}
