// Package services opens what the tools, the REST API and the preview of a site share, so that all
// of them have the same rules and see the same changes.
//
//	sv, err := services.New(services.Config{DB: "cms.db"})
//	if err != nil {
//		return err
//	}
//	defer sv.Close()
//	a, err := agent.New(agent.Config{Tools: cmstools.All(sv), …})
//	http.Handle("/", api.New(api.Config{Services: sv, Agent: a}))
package services
