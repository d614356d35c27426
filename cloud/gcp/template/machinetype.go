package template

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// MachineTypeField is the field of specifications that names a machine type.
const MachineTypeField = "spec.instanceType"

// MachineType holds the remembered facts of a machine type.
type MachineType struct {
	CPUs, MemoryMiB int `json:",omitempty"`
	// Accelerators is the number of accelerators of each machine, of one type.
	Accelerators              int    `json:",omitempty"`
	Accelerator, Architecture string `json:",omitempty"`
}

// MachineTypeOf looks a machine type up in a zone. It is an error of Field if the zone has none of that name.
func MachineTypeOf(ctx context.Context, c *session.Session, look *cache.Resolver, zone, name string) (MachineType, error) {
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "machine-type", Inputs: []string{c.Project, zone, name},
		Good: func(answer string) bool { return json.Unmarshal([]byte(answer), &MachineType{}) == nil },
		Ask:  func(ctx context.Context) (string, error) { return getMachineType(ctx, c, zone, name) },
	})
	if err != nil {
		return MachineType{}, err
	}
	var out MachineType
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return MachineType{}, fmt.Errorf("read what is remembered of machine type %s: %w", name, err)
	}
	return out, nil
}

func getMachineType(ctx context.Context, c *session.Session, zone, name string) (string, error) {
	is, err := c.Compute.MachineTypes.Get(c.Project, zone, name).Context(ctx).Do()
	if err = c.Refusal(err); session.Absent(err) {
		return "", cloud.Invalidf(MachineTypeField, "there is no machine type %s in zone %s", name, zone)
	}
	if err != nil {
		return "", err
	}
	t := MachineType{CPUs: int(is.GuestCpus), MemoryMiB: int(is.MemoryMb), Architecture: is.Architecture}
	for _, a := range is.Accelerators {
		t.Accelerator, t.Accelerators = a.GuestAcceleratorType, t.Accelerators+int(a.GuestAcceleratorCount)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("write what is remembered of machine type %s: %w", name, err)
	}
	return string(text), nil
}

// Offers returns what a machine of the type offers that takes a number of pods, with further accelerators by their types.
func (t MachineType) Offers(pods int, accelerators map[string]int) *pool.NodeCapacity {
	out := &pool.NodeCapacity{CPUs: t.CPUs, MemoryMiB: t.MemoryMiB, Pods: pods, OperatingSystem: "linux", Architecture: "amd64"}
	if strings.EqualFold(t.Architecture, "ARM64") {
		out.Architecture = "arm64"
	}
	count := 0
	if nvidia(t.Accelerator) {
		count = t.Accelerators
	}
	for name, n := range accelerators {
		if nvidia(name) {
			count += n
		}
	}
	if count > 0 {
		out.Devices = map[string]int{"nvidia.com/gpu": count}
	}
	return out
}

// nvidia reports whether an accelerator is one whose device plugin registers nvidia.com/gpu.
func nvidia(accelerator string) bool { return strings.HasPrefix(accelerator, "nvidia-") }
