package skill_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The tool "pages.write" comes with the skill that names it.
func Example() {
	files := fstest.MapFS{"about-pages/SKILL.md": {Data: []byte(`---
name: about-pages
description: Writes About pages. Use it when somebody asks for one.
allowed-tools: pages.write
---
One paragraph. Say who, where and since when.
`)}} // os.DirFS(".agents/skills") for real
	list, err := skill.Dir(files)
	if err != nil {
		log.Print(err) // which skills are wrong; the others are in the list
	}
	set, err := skill.New(skill.Config{Skills: list})
	if err != nil {
		log.Fatal(err)
	}
	type page struct {
		Text string `json:"text"`
	}
	write := tools.New(tools.Spec{Name: "pages.write"}, func(_ context.Context, in page) (string, error) {
		return "written: " + in.Text, nil
	})
	model := providertest.Script(
		providertest.Call("skill", map[string]string{"name": "about-pages"}),
		providertest.Call("pages.write", page{"Ann's, Oslo, since 1999."}),
		providertest.Say("The page is written."))
	a, err := agent.New(agent.Config{Provider: model, Tools: append(set.Lazy(write), set.Tool())})
	if err != nil {
		log.Fatal(err)
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "We need an About page."})
	if err != nil {
		log.Fatal(err)
	}
	for _, req := range model.Requests() {
		var names []string
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
		fmt.Println(names)
	}
	fmt.Println(res.Messages[2].Parts[0].Result.Text())
	fmt.Println(res.Text())
	// Output:
	// [skill]
	// [skill pages.write]
	// [skill pages.write]
	// One paragraph. Say who, where and since when.
	//
	// Tools of this skill, which can be called now: pages.write
	// The page is written.
}
