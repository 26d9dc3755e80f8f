// All words of the pages.

export const words = {
  brand: "Content agent",
  model: (name) => (name.startsWith("A stand-in") ? name : `${name} writes`),
  nav: { dashboard: "Dashboard", portfolio: "Portfolio", admin: "Admin" },
  status: { draft: "Draft", research: "Researched", skeleton: "Outlined", writing: "Writing", creating_visuals: "Written, images next", ready: "Ready", published: "Published", archived: "Archived" },
  type: { blog: "Blog post", social_post: "Social post", showcase: "Showcase" },
  tones: ["professional", "formal", "casual", "conversational", "technical", "friendly", "authoritative", "humorous"],
  plan: { free: "Free plan", pro: "Pro plan", enterprise: "Enterprise plan" },
  tools: {
    topicResearch: ["Researching", "Asks several sources at once and keeps the best 20 findings"],
    skeletonCreator: ["Creating the structure", "Headings, and places for images"],
    contentWriter: ["Writing the content", "One section after the other"],
    humanizer: ["Making it sound human", "Checks for 24 patterns of machine-made text"],
    visualsCreator: ["Creating the images", "One for each place in the text"],
    proposeEdit: ["Proposing a change", "Nothing changes until you accept it"],
    topicsResearch: ["Looking for topics"], fetchArtifact: ["Reading the artifact"], fetchResearch: ["Reading the research"],
    fetchArtifactTopics: ["Looking at your portfolio"], listDraftArtifacts: ["Looking for your drafts"], structuredResponse: ["Answering"],
  },
  results: { topicResearch: "the research", skeletonCreator: "the outline", contentWriter: "the text", humanizer: "the revision", visualsCreator: "the images" },
  source: { reddit: "Reddit", linkedin: "LinkedIn", quora: "Quora", medium: "Medium", substack: "Substack", user_provided: "Yours", web: "Web", made_up: "Made up" },
  errors: {
    TOOL_EXECUTION_FAILED: "That didn’t work", TOOL_TIMEOUT: "That took too long", AI_PROVIDER_ERROR: "The AI service doesn’t answer",
    AI_RATE_LIMIT: "The AI service is busy", AI_CONTENT_FILTER: "The AI service refused this", ARTIFACT_NOT_FOUND: "Artifact not found",
    RESEARCH_NOT_FOUND: "There is no research yet", INVALID_STATUS: "Not possible in this status", MISSING_CONTEXT: "Something is missing",
    INVALID_INPUT: "This can’t be accepted", CONFLICT: "Somebody else is working on it", UNAUTHORIZED: "No access", RATE_LIMIT_EXCEEDED: "Limit reached",
    NETWORK: "No connection",
  },
  network: "The server can’t be reached. Work that has begun goes on there.",
  examples: ["Give me topic ideas for LinkedIn", "Show my drafts", "Humanize this content"],
};

export const statusName = (s) => words.status[s] ?? s;
export const toolName = (t) => words.tools[t]?.[0] ?? t;

// plain replaces the names of tools in a text of the server by words.
export const plain = (text) => String(text).replace(new RegExp(`\\b(?:${Object.keys(words.tools).join("|")})\\b`, "g"), (name, at) => (at === 0 ? toolName(name) : toolName(name).toLowerCase()));
