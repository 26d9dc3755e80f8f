package erase_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/erase"
)

// ann matches words of one person.
func ann(text string) (words []string) {
	for _, w := range []string{"ann@a.example", "Ann", "491701", "Zoë", "𝐀nn"} {
		if strings.Contains(text, w) {
			words = append(words, w)
		}
	}
	return words
}

func TestEachTextIsReplacedWhereverItIs(t *testing.T) {
	file := base64.StdEncoding.EncodeToString([]byte("from: ann@a.example\n"))
	erased := base64.StdEncoding.EncodeToString([]byte("from: [erased]\n"))
	for name, c := range map[string][3]string{ // the kind, before, after
		"a text":         {"", `{"text":"Ann wrote"}`, `{"text":"[erased] wrote"}`},
		"a list":         {"", `{"missing":["a","Ann"],"n":1}`, `{"missing":["a","[erased]"],"n":1}`},
		"escapes":        {"", `{"text":"Zo\u00eb <b>"}`, `{"text":"[erased] <b>"}`},
		"others stay":    {"", `{ "a": "\u0041", "text":"Ann", "n": 1.0 }`, `{"a":"\u0041","text":"[erased]","n":1.0}`},
		"a key":          {"", `{"input":{"Ann":1,"Annn":2}}`, `{"input":{"[erased]":1,"[erased]n":2}}`},
		"equal keys":     {"", `{"input":{"Ann":1,"Zoë":2}}`, `{"input":{"[erased]":1,"[erased] 2":2}}`},
		"a number":       {"", `{"input":{"phone":491701}}`, `{"input":{"phone":"[erased]"}}`},
		"not a number":   {"", `{"took":491701}`, `{"took":491701}`},
		"JSON in text":   {"", `{"text":"{\"who\":\"Zo\\u00eb\",\"id\":\"Ann\"}"}`, `{"text":"{\"who\":\"[erased]\",\"id\":\"[erased]\"}"}`},
		"a file":         {"", `{"media":{"name":"Ann.txt","data":"` + file + `"}}`, `{"media":{"name":"[erased].txt","data":"` + erased + `"}}`},
		"an address":     {"", `{"text":"https://x.example/?q=ann%40a.example&n=1"}`, `{"text":"https://x.example/?q=%5Berased%5D&n=1"}`},
		"labels":         {"", `{"labels":"team=a&user=ann%40a.example"}`, `{"labels":"team=a&user=%5Berased%5D"}`},
		"a name":         {"", `{"id":"Ann","name":"Ann","by":"Ann"}`, `{"id":"Ann","name":"Ann","by":"[erased]"}`},
		"a tool's name":  {"", `{"input":{"id":"Ann","name":"Ann"}}`, `{"input":{"id":"[erased]","name":"[erased]"}}`},
		"a tool's usage": {"", `{"input":{"usage":{"id":"Ann"},"run":{"tools":{"id":"Ann"}}}}`, `{"input":{"usage":{"id":"[erased]"},"run":{"tools":{"id":"[erased]"}}}}`},
		"hashes":         {"snapshot", `{"state":{"run":{"tools":{"t":{"input":491701}}},"title":"Ann"}}`, `{"state":{"run":{"tools":{"t":{"input":491701}}},"title":"[erased]"}}`},
		"a source":       {"snapshot", `{"state":{"outside":[{"message":0,"from":["Ann"]}]}}`, `{"state":{"outside":[{"message":0,"from":["[erased]"]}]}}`},
		"a reference":    {"", `{"input":{"to":{ "$from" : "Ann.id" },"cc":{"$from":"Ann","n":1},"id":"Ann"}}`, `{"input":{"to":{ "$from" : "Ann.id" },"cc":{"$from":"[erased]","n":1},"id":"[erased]"}}`},
		"a state":        {"suspended", `{"state":{"id":"Ann"}}`, `{"state":{"id":"[erased]"}}`},
		"a snapshot": {"snapshot", `{"state":{"owner":"Ann","title":"Ann","calls":[{"state":{"id":"Ann"}}]}}`,
			`{"state":{"owner":"Ann","title":"[erased]","calls":[{"state":{"id":"[erased]"}}]}}`},
		"reasoning": {"", `{"kind":"reasoning","text":"Ann","opaque":{"data":"sig"}}`, `{"kind":"reasoning","text":"[erased]"}`},
		"lines": {"", `{"text":"Result:\n{\"name\":\"Zo\\u00eb\",\"n\":\"\\u0022\"}\n"}`,
			`{"text":"Result:\n{\"name\":\"[erased]\",\"n\":\"\\u0022\"}\n"}`},
		"JSON lines":       {"", `{"text":"{\"a\":\"Zo\\u00eb\"}\n{\"a\":1}"}`, `{"text":"{\"a\":\"[erased]\"}\n{\"a\":1}"}`},
		"JSON that is cut": {"", `{"invalid":"{\"a\":\"Hi Zo\\u00eb, \\u0022"}`, `{"invalid":"{\"a\":\"Hi [erased], \\u0022"}`},
		"a JSON string":    {"", `{"text":"\"Zo\\u00eb\""}`, `{"text":"\"[erased]\""}`},
		"JSON in cut JSON": {"", `{"text":"{\"a\":\"{\\\"b\\\":\\\"Zo\\\\u00eb\\\""}`,
			`{"text":"{\"a\":\"{\\\"b\\\":\\\"[erased]\\\""}`},
		"another plane":   {"", `{"text":"x \\ud835\\udc00nn"}`, `{"text":"x [erased]"}`},
		"escaped in full": {"", `{"text":"x \\u0022\\u0041nn\\u0022 \\ud835"}`, `{"text":"x \\u0022[erased]\\u0022 \\ud835"}`},
		"no JSON":         {"", `Ann {`, `[erased] {`},
		"nothing":         {"", `{ "a":"b" }`, `{ "a":"b" }`},
		"empty":           {"", ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var words, members []string
			erase.Found(ann, &words, &members).Record(c[0], []byte(c[1]))
			got := string(erase.Replaced(words, "[erased]", ann).Record(c[0], []byte(c[1])))
			require.Equal(t, c[2], got)

			var again []string
			erase.Found(ann, &again, &members).Record(c[0], []byte(got))
			if strings.Contains(c[2], `"Ann`) {
				require.NotEmpty(t, members)
				return
			}
			require.Empty(t, again)
		})
	}
}

func TestWordsAreFoundBetweenTheEscapesOfJSONThatIsCut(t *testing.T) {
	whole := regexp.MustCompile(`\bAnn\b`)
	w := erase.Replaced([]string{"Ann"}, "x", func(s string) []string { return whole.FindAllString(s, -1) })
	require.Equal(t, `log: "a\nx\tb" {"a\nx`, w.String(`log: "a\nAnn\tb" {"a\nAnn`))
}

func TestWordsThatAreNotInTheTextAreLeftOut(t *testing.T) {
	var words, members []string
	w := erase.Found(func(string) []string { return []string{"", "other", "b"} }, &words, &members)
	require.Equal(t, "a b", w.String("a b"))
	require.Equal(t, []string{"b"}, words)
	require.Equal(t, []string{"a", "b"}, erase.Sorted([]string{"b", "a", "b"}))
}

func TestTheLongestWordIsReplacedFirst(t *testing.T) {
	require.Equal(t, "x, x", erase.Replaced([]string{"Ann", "Ann Lee"}, "x", nil).String("Ann Lee, Ann"))
}

func FuzzAnyDataIsRead(f *testing.F) {
	f.Add("suspended", []byte(`{"a":["Ann",1,{"b":null}],"c":"x%20Ann"}`))
	f.Add("", []byte(`[1 , "\"" ]`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		got := erase.Replaced([]string{"Ann"}, "x", nil).Record(kind, data)
		if !strings.Contains(string(data), "Ann") && !strings.ContainsAny(string(data), `\%+`) && len(data) < 8 {
			require.Equal(t, string(data), string(got))
		}
	})
}

func TestAWordWithinALongerOneStays(t *testing.T) {
	whole := regexp.MustCompile(`(?i)\bann\b`)
	w := erase.Replaced([]string{"ann"}, "x", func(s string) []string { return whole.FindAllString(s, -1) })
	require.Equal(t, "planned by x, x's channel, joann", w.String("planned by ann, ann's channel, joann"))
	w = erase.Replaced([]string{"ann"}, "x", func(s string) []string {
		if strings.Contains(s, "joann") {
			return []string{"ann", "other"}
		}
		return nil
	})
	require.Equal(t, "plxed by x, jox", w.String("planned by ann, joann"), "it is found within the word, too")
}

func TestAnImageStaysAsItIs(t *testing.T) {
	image := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff, 0x00, 0x9a}, 30))
	part := image[:3]
	w := erase.Replaced([]string{part}, "x", nil)
	data := []byte(`{"message":{"parts":[{"kind":"media","media":{"type":"image/png","data":"` + image + `"}}]}}`)
	require.Equal(t, string(data), string(w.Record("run_started", data)))
}
