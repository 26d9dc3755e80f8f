package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/tools"
)

type object = map[string]any

// describe returns the OpenAPI 3.1 description of routes.
func describe(routes []route) (object, error) {
	d := &description{components: object{}}
	failure, err := d.schema(schemaOf[Failure])
	if err != nil {
		return nil, err
	}
	d.components["Failure"] = failure
	paths := object{}
	for _, rt := range routes {
		operation, err := d.operation(rt)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", rt.Method, rt.Path, err)
		}
		if paths[rt.Path] == nil {
			paths[rt.Path] = object{}
		}
		paths[rt.Path].(object)[strings.ToLower(rt.Method)] = operation
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "CMS", "version": "1",
			"description": "The contents of a site, and the sessions of its agent. A form may name another method in " +
				"its field _method."},
		"paths":      paths,
		"components": object{"schemas": d.components},
	}, nil
}

// A description collects the schemas that several routes refer to.
type description struct{ components object }

func (d *description) operation(rt route) (object, error) {
	status := http.StatusOK
	if rt.creates() {
		status = http.StatusCreated
	}
	result := object{"description": rt.summary}
	if rt.download {
		result["content"] = object{
			"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}}}
	} else {
		data, err := d.schema(rt.out)
		if err != nil {
			return nil, err
		}
		result["content"] = object{"application/json": object{"schema": object{"type": "object",
			"required": []string{"data", "message", "statusCode"},
			"properties": object{"data": data, "message": object{"type": "string"},
				"statusCode": object{"const": status}}}}}
	}
	operation := object{
		"operationId": operationID(rt), "summary": strings.TrimSuffix(rt.summary, "."), "parameters": parameters(rt),
		"responses": object{
			strconv.Itoa(status): result,
			"default": object{"description": "An error.",
				"content": object{
					"application/json": object{"schema": object{"$ref": "#/components/schemas/Failure"}}}},
		},
	}
	switch {
	case rt.file:
		form := object{"type": "object", "required": []string{"file"},
			"properties": object{"file": object{"type": "string", "format": "binary"}, "alt": object{"type": "string"}}}
		operation["requestBody"] = object{"required": true,
			"content": object{"multipart/form-data": object{"schema": form}}}
	case rt.in != nil:
		body, err := d.schema(rt.in)
		if err != nil {
			return nil, err
		}
		content := object{"application/json": object{"schema": body}}
		if rt.form {
			content["application/x-www-form-urlencoded"] = object{"schema": body}
		}
		operation["requestBody"] = object{"required": true, "content": content}
	}
	return operation, nil
}

// operationID returns a name such as getPagesPageContents.
func operationID(rt route) string {
	path := strings.TrimPrefix(strings.TrimPrefix(rt.Path, base), "/v1")
	name := strings.ToLower(rt.Method)
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/{}", r) }) {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func parameters(rt route) []object {
	list := []object{}
	for _, part := range strings.Split(rt.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": object{"type": "string"}})
		}
	}
	for _, name := range rt.query {
		kind := object{"type": "string"}
		if name == "limit" || name == "offset" {
			kind = object{"type": "integer", "minimum": 0}
		}
		list = append(list, object{"name": name, "in": "query", "schema": kind})
	}
	return list
}

// A typeSchema returns the JSON Schema of a Go type.
type typeSchema func() (json.RawMessage, error)

// schemaOf is the schema that package tools infers for the field v of a tool's input.
func schemaOf[T any]() (json.RawMessage, error) {
	type input struct {
		V T `json:"v"`
	}
	d, err := tools.New(tools.Spec{Name: "schema"}, func(context.Context, input) (string, error) {
		return "", nil
	}).Define()
	if err != nil {
		return nil, err
	}
	return d.Tool().Schema, nil
}

// schema returns a schema, and adds what it refers to to the components.
func (d *description) schema(of typeSchema) (object, error) {
	text, err := of()
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`))
	var input struct {
		Properties struct {
			V object `json:"v"`
		} `json:"properties"`
		Defs object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, err
	}
	for name, def := range input.Defs {
		d.components[name] = def
	}
	return input.Properties.V, nil
}
