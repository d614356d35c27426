package instancepool

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

const (
	// podsMost is the default maximum number of pods of a kubelet.
	podsMost = 110
	// mebibytes of a gigabyte, as OCI counts memory.
	mebibytes = 1024
)

// shape holds the remembered facts of a shape.
type shape struct {
	OCPUs, MemoryInGBs float64 `json:",omitempty"`
	// MemoryPerOCPU is the default memory of a flexible shape for each OCPU, MinMemory the least of an instance.
	MemoryPerOCPU, MinMemory float64 `json:",omitempty"`
	GPUs                     int     `json:",omitempty"`
	GPU, Processor           string  `json:",omitempty"`
}

// shaper looks up what instances offer.
type shaper struct{ p *pass }

// resolver looks up what the specification names only by its properties.
func (r shaper) resolver() *cache.Resolver {
	return &cache.Resolver{Place: r.p.c.Region + "/" + r.p.t.cluster.CompartmentID, Shared: r.p.lookups, Now: r.p.now,
		Remembered: r.p.t.Remembered, Remember: map[string]string{}}
}

// capacity returns what an instance offers. It is an error of the field if the region has no such shape.
func (r shaper) capacity(ctx context.Context, look *cache.Resolver) (*pool.NodeCapacity, error) {
	is := &r.p.t.spec.InstanceConfiguration
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "shape", Inputs: is.Shape, Good: func(answer string) bool { return json.Unmarshal([]byte(answer), &shape{}) == nil },
		Ask: func(ctx context.Context) (string, error) { return r.askShape(ctx, is.Shape) },
	})
	if err != nil {
		return nil, err
	}
	var found shape
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return nil, err
	}
	ocpus, memory := found.OCPUs, found.MemoryInGBs
	if size := is.ShapeConfig; size != nil {
		given, errOCPUs := launch.Decimal(launch.FieldShapeConfig+".ocpus", size.OCPUs)
		if errOCPUs == nil && given != nil {
			ocpus, memory = *given, max(*given*found.MemoryPerOCPU, found.MinMemory)
		}
		if given, err := launch.Decimal(launch.FieldShapeConfig+".memoryInGBs", size.MemoryInGBs); err == nil && given != nil {
			memory = *given
		}
	}
	return found.offers(is.Shape, ocpus, memory), nil
}

// askShape looks a shape up in the compartment.
func (r shaper) askShape(ctx context.Context, name string) (string, error) {
	list, _, err := session.ReadAll(ctx, func(core.Shape) *string { return nil },
		func(ctx context.Context, at *string) (*rest.Response[[]core.Shape], error) {
			return r.p.c.Core.ListShapes(ctx, core.ListShapesRequest{CompartmentId: &r.p.t.cluster.CompartmentID, Shape: &name, Limit: new(pageSize),
				Page: at})
		})
	if err != nil {
		return "", err
	}
	for _, s := range list {
		if value(s.Shape) == name {
			text, err := json.Marshal(shapeOf(s))
			return string(text), err
		}
	}
	return "", cloud.Invalidf(launch.FieldShape, "there is no shape %s in region %s", name, r.p.c.Region)
}

func shapeOf(s core.Shape) shape {
	out := shape{OCPUs: value(s.Ocpus), MemoryInGBs: value(s.MemoryInGBs), GPUs: value(s.Gpus), GPU: value(s.GpuDescription),
		Processor: value(s.ProcessorDescription)}
	if o := s.MemoryOptions; o != nil {
		out.MemoryPerOCPU, out.MinMemory = value(o.DefaultPerOcpuInGBs), value(o.MinInGBs)
	}
	return out
}

// offers returns what an instance of a shape offers.
func (s shape) offers(name string, ocpus, memory float64) *pool.NodeCapacity {
	out := &pool.NodeCapacity{MemoryMiB: int(memory * mebibytes), Pods: podsMost, Architecture: "amd64", OperatingSystem: "linux"}
	threads := 2.0
	if s.arm(name) {
		out.Architecture = "arm64"
		if strings.Contains(name, ".A1.") {
			threads = 1 // an OCPU of an Ampere A1 is one core with one thread; of later ones it is two cores
		}
	}
	out.CPUs = int(math.Floor(ocpus * threads))
	if s.GPUs > 0 {
		device := "nvidia.com/gpu"
		if strings.Contains(strings.ToUpper(s.GPU), "AMD") {
			device = "amd.com/gpu"
		}
		out.Devices = map[string]int{device: s.GPUs}
	}
	return out
}

// arm reports whether a shape has processors of the architecture of Arm: those of Ampere.
func (s shape) arm(name string) bool {
	return strings.Contains(name, ".A1.") || strings.Contains(name, ".A2.") || strings.Contains(name, ".A4.") ||
		strings.Contains(strings.ToLower(s.Processor), "ampere")
}
