module github.com/pawlkit/pawl/internal/browser

go 1.26.0

require (
	github.com/pawlkit/pawl v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/pawlkit/pawl => ../..
