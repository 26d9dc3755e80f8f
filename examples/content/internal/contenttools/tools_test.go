package contenttools

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

func TestEachTypeGoesFromDraftToReady(t *testing.T) {
	for _, kind := range portfolio.Types {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, kind, nil)
			want := []portfolio.Status{portfolio.Research, portfolio.Skeleton, portfolio.CreatingVisuals,
				portfolio.CreatingVisuals, portfolio.Ready}
			for i, step := range b.inputs(kind) {
				e := b.call(t, "ann", fmt.Sprint("k", i), step.tool, step.in)
				require.True(t, e.Success, "%s: %+v", step.tool, e.Error)
				require.Equal(t, "ca-1", e.TraceID)
				require.Equal(t, want[i], b.artifact(t).Status)
				again := b.call(t, "ann", fmt.Sprint("k", i), step.tool, step.in)
				require.True(t, again.Success, "a repetition is answered")
				require.JSONEq(t, string(e.Data), string(again.Data))
				require.Equal(t, e.StatusTransition, again.StatusTransition)
			}
			a := b.artifact(t)
			require.Greater(t, len(a.Content), 200)
			require.NotContains(t, a.Content, "[IMAGE:")
			require.NotContains(t, a.Content, "[WRITE:")
			require.Contains(t, a.Content, "]("+ImagePath)
			for _, field := range []string{"sections", "writing_metadata", "humanity", "images", "insights"} {
				require.Contains(t, a.Metadata, field)
			}
			var images []Picture
			require.NoError(t, json.Unmarshal(a.Metadata["images"], &images))
			i, err := b.Image(t.Context(), "ann", strings.TrimPrefix(images[0].URL, ImagePath))
			require.NoError(t, err)
			require.Contains(t, string(i.Data), "<svg")
			found, err := b.Research(t.Context(), "ann", b.id)
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(found), 5)
			for _, s := range found {
				require.Greater(t, s.Relevance, relevant)
			}
			h, err := b.History(t.Context(), "ann", b.id)
			require.NoError(t, err)
			require.Len(t, h, 5)
			var score struct{ HumanityScoreBefore, HumanityScoreAfter int }
			require.NoError(t, json.Unmarshal(a.Metadata["humanity"], &score))
			require.GreaterOrEqual(t, score.HumanityScoreAfter, score.HumanityScoreBefore)
		})
	}
}

func TestAFailedSectionLeavesTheArtifactAndIsTheFirstToBeWrittenAgain(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	steps := b.inputs(portfolio.Blog)
	for i, step := range steps[:2] {
		require.True(t, b.call(t, "ann", fmt.Sprint(i), step.tool, step.in).Success)
	}
	before := b.artifact(t)
	b.fails = func(req *provider.Request) error {
		if req.Labels.Kind == "writer" && b.asked["writer"] == 3 {
			now := b.artifact(t) // what is finished can be read meanwhile
			text, err := Written(t.Context(), b.Store, &now)
			require.NoError(t, err)
			require.Equal(t, 4, strings.Count(text, "[WRITE: "))
			require.Equal(t, 6, strings.Count(now.Content, "[WRITE: "))
			return errDown
		}
		return nil
	}
	e := b.call(t, "ann", "w", portfolio.ContentWriter, steps[2].in)
	require.False(t, e.Success)
	require.Equal(t, portfolio.ToolExecutionFailed, e.Error.Category)
	now := b.artifact(t)
	require.Equal(t, before.Content, now.Content)
	require.Equal(t, portfolio.Skeleton, now.Status)
	require.Equal(t, before.Metadata, now.Metadata)
	e = b.call(t, "ann", "w", portfolio.ContentWriter, steps[2].in)
	require.True(t, e.Success, "%+v", e.Error)
	require.Equal(t, 3+6-2, b.asked["writer"], "two sections weren't written again")
	require.Equal(t, portfolio.CreatingVisuals, b.artifact(t).Status)
}

func TestToolsAreRefusedInOtherStatuses(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for _, step := range b.inputs(portfolio.Blog)[1:] {
		e := b.call(t, "ann", "", step.tool, step.in)
		require.False(t, e.Success)
		require.Equal(t, portfolio.InvalidStatus, e.Error.Category, step.tool)
		require.Equal(t, portfolio.Draft, e.Error.Status)
	}
	require.Empty(t, b.asked, "nothing was asked of the model")
}

func TestToolsRefuseWhatIsWrong(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for _, tc := range []struct {
		user, tool string
		in         map[string]any
		want       portfolio.Category
	}{
		{"ben", portfolio.TopicResearch, map[string]any{"artifactId": b.id, "topic": "x"}, portfolio.ArtifactNotFound},
		{"ben", FetchArtifact, map[string]any{"artifactId": b.id}, portfolio.ArtifactNotFound},
		{"ben", FetchResearch, map[string]any{"artifactId": b.id}, portfolio.ArtifactNotFound},
		{"ann", FetchResearch, map[string]any{"artifactId": b.id}, portfolio.ResearchNotFound},
		{"ann", FetchArtifact, map[string]any{"artifactId": "a/b"}, portfolio.InvalidArtifactID},
		{"ann", portfolio.Humanizer, map[string]any{"artifactId": ""}, portfolio.InvalidArtifactID},
		{"ann", portfolio.TopicResearch, map[string]any{"artifactId": b.id, "topic": " "}, portfolio.MissingContext},
		{"ann", portfolio.TopicResearch, map[string]any{"artifactId": b.id, "topic": strings.Repeat("x", 501)},
			portfolio.InvalidInput},
		{"", ListDraftArtifacts, map[string]any{}, portfolio.Unauthorized},
		{"ann", TopicsResearch, map[string]any{"contentType": "blog", "focusArea": strings.Repeat("x", 501)},
			portfolio.InvalidInput},
	} {
		e := b.call(t, tc.user, "", tc.tool, tc.in)
		require.NotNil(t, e.Error, tc)
		require.Equal(t, tc.want, e.Error.Category, tc)
	}
	require.True(t, b.call(t, "ann", "", portfolio.TopicResearch,
		map[string]any{"artifactId": b.id, "topic": "x", "sources": []string{"reddit"}}).Success)
	require.Equal(t, portfolio.InvalidContentType, b.call(t, "ann", "", portfolio.SkeletonCreator,
		map[string]any{"artifactId": b.id, "topic": "x", "artifactType": "showcase"}).Error.Category)
}

func TestReadsReturnWhatTheUserHas(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	require.Contains(t, string(b.call(t, "ann", "", ListDraftArtifacts, map[string]any{}).Data), `"count":1`)
	require.Contains(t, string(b.call(t, "ann", "", FetchArtifactTopics, map[string]any{}).Data), "Remote work")
	require.Contains(t, string(b.call(t, "ann", "", FetchArtifact, map[string]any{"artifactId": b.id}).Data),
		`"status":"draft"`)
	require.Contains(t, string(b.call(t, "ben", "", ListDraftArtifacts, map[string]any{}).Data), `"count":0`)
	b.call(t, "ann", "", portfolio.TopicResearch, b.inputs(portfolio.Blog)[0].in)
	require.Contains(t, string(b.call(t, "ann", "", FetchResearch, map[string]any{"artifactId": b.id}).Data),
		`"count":5`)
	var got struct{ Topics []Topic }
	require.NoError(t,
		json.Unmarshal(b.call(t, "ann", "", TopicsResearch, map[string]any{"contentType": "social_post"}).Data, &got))
	require.Len(t, got.Topics, 5)
	_, err := b.Create(t.Context(), portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: got.Topics[0].Title})
	require.NoError(t, err)
	first := got.Topics[0].Title
	require.NoError(t,
		json.Unmarshal(b.call(t, "ann", "", TopicsResearch, map[string]any{"contentType": "social_post"}).Data, &got))
	require.Len(t, got.Topics, 5)
	require.False(t, slices.ContainsFunc(got.Topics, func(v Topic) bool { return v.Title == first }),
		"no title that exists")
}

func TestAPublishedTextBecomesReadyWhenItIsRevised(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for i, step := range b.inputs(portfolio.Blog) {
		require.True(t, b.call(t, "ann", fmt.Sprint(i), step.tool, step.in).Success)
	}
	_, err := b.Move(t.Context(), "ann", b.id, portfolio.Published, portfolio.ByUser)
	require.NoError(t, err)
	require.True(t, b.call(t, "ann", "h", portfolio.Humanizer, map[string]any{"artifactId": b.id}).Success)
	require.Equal(t, portfolio.Ready, b.artifact(t).Status)
	require.True(t, b.call(t, "ann", "v", portfolio.VisualsCreator, map[string]any{"artifactId": b.id}).Success,
		"images can be added later")
}

func TestWhatAToolHasDoneCanBeUndone(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	in := agent.CallTool("s", portfolio.TopicResearch, b.inputs(portfolio.Blog)[0].in)
	in.User = "ann"
	_, err := b.a.Run(t.Context(), in)
	require.NoError(t, err)
	_, err = b.a.Session("s").Undo(t.Context(), agent.Rollback{User: "ann"})
	require.NoError(t, err)
	require.Equal(t, portfolio.Draft, b.artifact(t).Status)
}

func TestErrorsAreExplained(t *testing.T) {
	for class, want := range map[fault.Class]portfolio.Category{fault.Degraded: portfolio.AIProviderError,
		fault.RateLimited: portfolio.AIRateLimit, fault.Denied: portfolio.AIContentFilter,
		fault.Permanent: portfolio.ToolExecutionFailed} {
		require.Equal(t, want, Explain(fault.New(class, "x")).Category)
	}
	for _, c := range []struct {
		err  *provider.Error
		want portfolio.Category
		says string
	}{
		{&provider.Error{Status: 401, Class: fault.UserFixable, Message: "Incorrect API key provided: sk-1."},
			portfolio.AIProviderError, "Set OPENAI_API_KEY to a valid key"},
		{&provider.Error{Status: 404, Class: fault.Permanent, Code: "model_not_found", Model: "gpt-x"},
			portfolio.AIProviderError, "Set OPENAI_MODEL to the name of a model"},
		{&provider.Error{Status: 429, Type: "insufficient_quota", Class: fault.UserFixable},
			portfolio.AIProviderError, "no credit or no quota left"},
		{&provider.Error{Class: fault.Degraded, Message: "no answer: dial tcp", Err: &net.OpError{Op: "dial"}},
			portfolio.AIProviderError, "Check the network of this machine"},
		{&provider.Error{Status: 429, Class: fault.RateLimited}, portfolio.AIRateLimit, "too many requests"},
		{&provider.Error{Status: 400, Class: fault.Denied, Code: "content_filter"}, portfolio.AIContentFilter,
			"refuses this content"},
	} {
		c.err.Provider = "openai"
		p := Explain(fmt.Errorf("section 1: %w", c.err))
		require.Equal(t, c.want, p.Category, p.Message)
		require.Contains(t, p.Message, c.says)
		require.NotContains(t, p.Message, "sk-1")
	}
	require.Len(t, ParseSections("# Title\n\n## Section 1\n\n## Section 2\n"), 3)
	_, err := All(Config{})
	require.ErrorContains(t, err, "Config.Store")
}

func TestMocksReplaceOnlyTheOutsideCalls(t *testing.T) {
	env := map[string]string{"MOCK_ALL_AI_TOOLS": "MOCK", "MOCK_DELAY_MIN_MS": "0", "MOCK_DELAY_MAX_MS": "0"}
	set, all, err := Mocks(func(k string) string { return env[k] }, nil)
	require.NoError(t, err)
	require.True(t, all)
	var first string
	for range 2 {
		b := newBench(t, portfolio.Blog, set)
		for i, step := range b.inputs(portfolio.Blog) {
			e := b.call(t, "ann", fmt.Sprint(i), step.tool, step.in)
			require.True(t, e.Success, "%+v", e.Error)
			if i == 1 {
				require.Contains(t, b.artifact(t).Content, "# Mock Content Skeleton")
			}
		}
		require.Empty(t, b.asked)
		text := imageID.ReplaceAllString(b.artifact(t).Content, "")
		require.Contains(t, text, "Mock text of Mock Section")
		if first != "" {
			require.Equal(t, first, text)
		}
		first = text
		require.True(t, b.call(t, "ann", "", TopicsResearch, map[string]any{"contentType": "blog"}).Success)
	}
	env["MOCK_DELAY_MIN_MS"] = "soon"
	_, _, err = Mocks(func(k string) string { return env[k] }, nil)
	require.ErrorContains(t, err, "MOCK_DELAY_MIN_MS")
}

func TestCapturedAnswersAnswerLater(t *testing.T) {
	dir := t.TempDir()
	write := func(env map[string]string) (text string, asked int) {
		set, _, err := Mocks(func(k string) string { return env[k] }, nil)
		require.NoError(t, err)
		b := newBench(t, portfolio.Blog, set)
		for i, step := range b.inputs(portfolio.Blog) {
			e := b.call(t, "ann", fmt.Sprint(i), step.tool, step.in)
			require.True(t, e.Success, "%+v", e.Error)
		}
		return imageID.ReplaceAllString(b.artifact(t).Content, ""), len(b.asked)
	}
	captured, asked := write(map[string]string{"MOCK_CAPTURE_RESPONSES": "true", "MOCK_CAPTURE_DIR": dir})
	require.NotZero(t, asked)
	env := map[string]string{"MOCK_ALL_AI_TOOLS": "PER_TOGGLE", "MOCK_DATA_DIR": dir, "MOCK_DELAY_MIN_MS": "0",
		"MOCK_DELAY_MAX_MS": "0"}
	for _, name := range []string{"RESEARCH", "SKELETON", "HUMANITY_CHECK", "TOPICS_RESEARCH", "VISUALS_CREATOR"} {
		env["MOCK_"+name+"_TOOLS"] = "MOCK"
	}
	env["MOCK_CONTENT_WRITING_TOOLS"] = "API" // one answer was kept for all sections of a tone
	again, asked := write(env)
	require.Equal(t, 1, asked)
	require.Equal(t, captured, again)
}

func TestNumbersWithoutASourceAreTakenOut(t *testing.T) {
	given := []portfolio.Source{{Number: 1}, {Number: 2}}
	for text, want := range map[string]string{
		"Small teams win [1].":            "Small teams win [1].",
		"Small teams win [3].":            "Small teams win.",
		"Small teams[^7] win [1, 9] [4].": "Small teams win [1].",
		"They win [1, 2][2].":             "They win [1, 2][2].",
		"See [4](https://x.y) and `a[3]`": "See [4](https://x.y) and `a[3]`",
		"In [2024] it was [ 3 ].":         "In [2024] it was [ 3 ].",
		"What the text had [8].":          "What the text had [8].",
		"```\na[3]\n```":                  "```\na[3]\n```",
	} {
		require.Equal(t, want, Sourced(text, "before [8]", given))
	}

	b := newBench(t, portfolio.Blog, nil)
	steps := b.inputs(portfolio.Blog)
	for i, step := range steps[:2] {
		require.True(t, b.call(t, "ann", fmt.Sprint(i), step.tool, step.in).Success)
	}
	b.says = func(*provider.Request) string { return "A claim with a source [1], and one without [77]." }
	require.True(t, b.call(t, "ann", "w", steps[2].tool, steps[2].in).Success)
	require.Contains(t, b.artifact(t).Content, "A claim with a source [1], and one without.")
	b.says = func(*provider.Request) string {
		return strings.ReplaceAll(b.artifact(t).Content, "without.", "without [78].")
	}
	require.True(t, b.call(t, "ann", "h", steps[3].tool, steps[3].in).Success)
	require.NotContains(t, b.artifact(t).Content, "[78]")
	b.says = func(*provider.Request) string {
		return strings.ReplaceAll(b.artifact(t).Content, "without.", "without any [79].")
	}
	_, p := propose(t, b, "e", b.artifact(t).Content, map[string]any{"instruction": "other"})
	require.Contains(t, p.New, "A claim with a source [1], and one without any.")
}

var imageID = regexp.MustCompile(`/images/[0-9a-f]+`)
