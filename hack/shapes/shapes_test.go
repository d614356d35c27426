package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/core/shapes"
)

// forms are descriptions of the same service: an operation that makes a pool, and one that lists them.
var forms = map[string]string{
	"discovery": `{"servicePath": "v1/", "schemas": {
		"Pool": {"properties": {
			"name": {"type": "string", "annotations": {"required": ["pools.create"]}}, "size": {"type": "integer"},
			"mode": {"type": "string", "enum": ["A", "B"]}, "labels": {"additionalProperties": {"type": "string"}},
			"state": {"type": "string", "readOnly": true}, "disk": {"type": "object", "properties": {"type": {"type": "string"}}}}},
		"List": {"properties": {"pools": {"type": "array", "items": {"$ref": "Pool"}}}},
		"Other": {"properties": {"a": {"type": "string"}}}},
		"resources": {"pools": {"methods": {
			"create": {"id": "pools.create", "httpMethod": "POST", "flatPath": "pools", "request": {"$ref": "Pool"}, "response": {"$ref": "Pool"}},
			"list": {"id": "pools.list", "httpMethod": "GET", "flatPath": "pools", "response": {"$ref": "List"},
				"parameters": {"page": {"location": "query"}, "zone": {"location": "query", "required": true}}}}}}}`,
	"version 2": `{"basePath": "/v1", "parameters": {"Zone": {"name": "zone", "in": "query", "required": true}}, "definitions": {
		"Base": {"required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}},
		"Pool": {"allOf": [{"$ref": "#/definitions/Base"}, {"properties": {
			"mode": {"type": "string", "enum": ["A", "B"]}, "labels": {"additionalProperties": {"type": "string"}},
			"state": {"type": "string", "readOnly": true}, "disk": {"type": "object", "properties": {"type": {"type": "string"}}}}}]},
		"List": {"properties": {"pools": {"type": "array", "items": {"$ref": "#/definitions/Pool"}}}}},
		"responses": {"Made": {"schema": {"$ref": "#/definitions/Pool"}}},
		"paths": {"/pools": {
			"post": {"operationId": "pools.create", "parameters": [{"in": "body", "schema": {"$ref": "#/definitions/Pool"}}],
				"responses": {"200": {"$ref": "#/responses/Made"}, "404": {}, "default": {}}},
			"get": {"operationId": "pools.list", "parameters": [{"name": "page", "in": "query"}, {"$ref": "#/parameters/Zone"}],
				"responses": {"200": {"schema": {"$ref": "#/definitions/List"}}}}}}}`,
	"version 3": `{"components": {"schemas": {
		"x.v1.Pool": {"required": ["name"], "properties": {
			"name": {"type": "string"}, "size": {"type": "integer"}, "mode": {"type": "string", "enum": ["A", "B"]},
			"labels": {"type": "object", "properties": {"<key>": {"type": "string"}}},
			"state": {"type": "string", "readOnly": true}, "disk": {"type": "object", "properties": {"type": {"type": "string"}}}}},
		"x.v1.List": {"properties": {"pools": {"type": "array", "items": {"$ref": "#/components/schemas/x.v1.Pool"}}}}}},
		"paths": {"/v1/pools": {
			"post": {"operationId": "pools.create",
				"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/x.v1.Pool"}}}},
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/x.v1.Pool"}}}}}},
			"get": {"operationId": "pools.list", "parameters": [
				{"name": "page", "in": "query"}, {"name": "zone", "in": "query", "required": true}],
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/x.v1.List"}}}}}}}}}`,
}

// TestForms holds that all forms of documents are read to the same.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, text := range forms {
		read, pool := readOpenAPI, map[string]string{"name": "*string", "size": "int", "mode": "=A|B", "labels": "{}string",
			"state": "!string", "disk": "Pool.disk"}
		create := shapes.Operation{Method: "POST", Path: "/v1/pools", Body: "Pool", Answer: "Pool", Success: []int{200}}
		list := shapes.Operation{Method: "GET", Path: "/v1/pools", Query: []string{"*zone", "page"}, Answer: "List", Success: []int{200}}
		if name == "discovery" { // what is required is of an operation, and statuses are not published
			read, pool["name"], create.Required = readDiscovery, "string", []string{"Pool.name"}
			create.Success, list.Success = nil, nil
		}
		file := filepath.Join(t.TempDir(), "document.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		published, err := read(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := source{Operations: []string{"pools.create", "List=POOLS.LIST"}, Prefix: "x.", Zeros: []string{"Pool.size"}}.wanted(published)
		pool["size"] = "?int"
		want := &shapes.Service{Operations: map[string]shapes.Operation{"x.pools.create": create, "x.List": list},
			Types: shapes.Types{"Pool": pool, "Pool.disk": {"type": "string"}, "List": {"pools": "[]Pool"}}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestShortNames holds that definitions whose last parts are the same are two types, whatever the order of reading.
func TestShortNames(t *testing.T) {
	t.Parallel()
	got := shortNames([]string{"x.v1.Node.Taint", "x.v1.Pool", "x.v1.Taint", "Bare"})
	want := map[string]string{"x.v1.Taint": "Taint", "x.v1.Node.Taint": "Node.Taint", "x.v1.Pool": "Pool", "Bare": "Bare"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestWantedRefuses(t *testing.T) {
	t.Parallel()
	if _, err := (source{Operations: []string{"A"}}).wanted(&shapes.Service{}); err == nil {
		t.Error("want an operation that is not published refused")
	}
}

// TestOCI reads an operation of each of Oracle's published documents, where they are there, and requests by its types.
func TestOCI(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		document, operation, path, accepted string
		// refused are bodies by what is wrong with them.
		refused map[string]string
	}{
		{
			"oci-compute-management.json", "CreateInstanceConfiguration", "POST /20160918/instanceConfigurations",
			`{"compartmentId":"c","source":"NONE","instanceDetails":{"instanceType":"compute","launchDetails":{"shape":"s",` +
				`"shapeConfig":{"ocpus":1.5},"metadata":{"user_data":"x"},"sourceDetails":{"sourceType":"image","imageId":"i"}}}}`,
			map[string]string{
				"unknown instanceDetails.launchDetails.image": `{"instanceDetails":{"launchDetails":{"image":"i"}}}`,
				"wrong source": `{"source":"ALL"}`,
			},
		},
		{
			"oci-containerengine.json", "CreateNodePool", "POST /20180222/nodePools",
			`{"compartmentId":"c","clusterId":"k","name":"p","nodeShape":"s","initialNodeLabels":[{"key":"a","value":"b"}],` +
				`"nodeConfigDetails":{"size":3,"placementConfigs":[{"availabilityDomain":"a","subnetId":"s"}]}}`,
			map[string]string{
				"unknown nodeConfigDetails.count": `{"nodeConfigDetails":{"count":3}}`,
				"wrong nodeConfigDetails.size":    `{"nodeConfigDetails":{"size":"3"}}`,
				"wrong initialNodeLabels":         `{"initialNodeLabels":{"a":"b"}}`,
			},
		},
	} {
		s, err := readOpenAPI(filepath.Join("..", "..", "..", "shared", "specs", row.document))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("no published document: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := s.Operations[row.operation]
		if got := o.Method + " " + o.Path; got != row.path {
			t.Errorf("%s: want %s, got %s", row.operation, row.path, got)
		}
		if _, err := s.Types.Read([]byte(row.accepted), o.Body, &plain); err != nil {
			t.Errorf("%s: want the body accepted, got %v", row.operation, err)
		}
		for want, body := range row.refused {
			if _, err := s.Types.Read([]byte(body), o.Body, &plain); err == nil || err.Error() != want {
				t.Errorf("%s %s: want %q, got %v", row.operation, body, want, err)
			}
		}
	}
}

// plain is a dialect whose errors are a word and the path.
var plain = shapes.Dialect{
	Malformed: func() error { return errors.New("malformed") },
	Unknown:   func(name, _, path string) error { return errors.New("unknown " + join(path, name)) },
	Wrong:     func(_ any, _, path string) error { return errors.New("wrong " + path) },
	Member:    join, Entry: join,
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
