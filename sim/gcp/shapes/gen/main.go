// Command gen reads the discovery documents of Google's APIs and writes what requests may hold: for each type its members, and what each
// of them is.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module holds the discovery documents beside the clients that are made of them.
const module = "google.golang.org/api"

// source is a discovery document below the module, the file that is made of it, and the types of requests.
type source struct {
	document, out string
	// zeros is true where zeros are written as they are given.
	zeros bool
	roots []string
}

var sources = []source{
	{document: "container/v1/container-api.json", out: "container.json", roots: []string{
		"CreateClusterRequest", "UpdateClusterRequest", "UpdateMasterRequest", "CreateNodePoolRequest", "UpdateNodePoolRequest",
		"SetNodePoolSizeRequest", "SetNodePoolAutoscalingRequest", "SetNodePoolManagementRequest", "RollbackNodePoolUpgradeRequest",
		"CompleteNodePoolUpgradeRequest", "CancelOperationRequest", "SetLabelsRequest",
	}},
	{document: "compute/v1/compute-api.json", out: "compute.json", zeros: true, roots: []string{
		"InstanceTemplate", "InstanceGroupManager", "InstanceGroupManagersSetInstanceTemplateRequest",
		"InstanceGroupManagersDeleteInstancesRequest",
		"InstanceGroupManagersRecreateInstancesRequest", "InstanceGroupManagersAbandonInstancesRequest",
		"InstanceGroupManagersCreateInstancesRequest",
		"InstanceGroupManagersApplyUpdatesRequest", "InstancesSetLabelsRequest", "HealthCheck", "Autoscaler",
	}},
}

// optional are the scalars whose zero is written. The discovery documents do not tell them from others; recorded replies do.
var optional = map[string]bool{
	"NodeKubeletConfig.insecureKubeletReadonlyPortEnabled": true, "NodeKubeletConfig.cpuCfsQuota": true, "SwapConfig.enabled": true,
	"BlueGreenSettings.nodePoolSoakDuration": true, "NodeNetworkConfig.enablePrivateNodes": true,
}

// kind is what a discovery document says of a member, or of the elements of one.
type kind struct {
	Type        string
	Format      string
	Ref         string `json:"$ref"`
	Description string
	ReadOnly    bool
	Enum        []string
	Items       *kind
	Values      *kind `json:"additionalProperties"`
}

// api is a discovery document.
type api struct {
	Schemas map[string]struct{ Properties map[string]kind }
}

func main() {
	for _, s := range sources {
		if err := s.run(); err != nil {
			log.Fatal(err)
		}
	}
}

func (s source) run() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", module, err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), s.document))
	if err != nil {
		return fmt.Errorf("read the discovery document: %w", err)
	}
	var a api
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("decode %s: %w", s.document, err)
	}
	shapes := map[string]map[string]string{}
	for _, root := range s.roots {
		a.add(root, s.zeros, shapes)
	}
	b, err := json.MarshalIndent(shapes, "", " ")
	if err != nil {
		return fmt.Errorf("encode the shapes: %w", err)
	}
	return os.WriteFile(s.out, append(b, '\n'), 0o644)
}

// add writes a type and all that it is made of.
func (a api) add(name string, zeros bool, shapes map[string]map[string]string) {
	if shapes[name] != nil {
		return
	}
	shape := map[string]string{}
	shapes[name] = shape
	for member, k := range a.Schemas[name].Properties {
		text := a.kindOf(k, zeros, shapes)
		switch {
		case k.ReadOnly || strings.HasPrefix(k.Description, "Output only"):
			text = "!" + text
		case zeros || optional[name+"."+member]:
			text = "?" + text
		}
		shape[member] = text
	}
}

// kindOf writes what a member is.
func (a api) kindOf(k kind, zeros bool, shapes map[string]map[string]string) string {
	switch {
	case k.Ref != "":
		a.add(k.Ref, zeros, shapes)
		return k.Ref
	case k.Items != nil:
		return "[]" + a.kindOf(*k.Items, zeros, shapes)
	case k.Values != nil:
		return "{}" + a.kindOf(*k.Values, zeros, shapes)
	case len(k.Enum) > 0:
		return "=" + strings.Join(k.Enum, "|")
	}
	return scalar(k)
}

// scalar writes what a scalar is. Numbers of 64 bits are strings in the discovery document, as they are on the wire.
func scalar(k kind) string {
	switch {
	case strings.HasSuffix(k.Format, "int64"):
		return "int64"
	case k.Type == "boolean":
		return "bool"
	case k.Type == "integer":
		return "int"
	case k.Type == "number", k.Type == "string":
		return k.Type
	}
	return "any"
}
