package instancegroup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// wanted is what the specification asks for now.
type wanted struct {
	template template.Template
	labels   map[string]string
	remember map[string]string
	// capacity is what each machine offers; nil where it is unknown.
	capacity *pool.NodeCapacity
}

// translation translates the specification of a pass.
type translation struct{ *pass }

// source is what the template is made of, without the image.
func (t target) source() template.Source {
	return template.Source{Owner: t.Owner, Pool: t.pool, Cluster: t.cluster, Project: t.project, Group: t.group, Bootstrap: t.Bootstrap}
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (p translation) want(ctx context.Context) (wanted, error) {
	look := &cache.Resolver{
		Place: p.c.Key, Shared: p.lookups, Now: p.now, Remembered: p.t.Remembered, Remember: map[string]string{keepLocation: p.t.place.location},
	}
	if adopted, ok := p.t.Remembered[cloud.AdoptedTemplate]; ok {
		look.Remember[cloud.AdoptedTemplate] = adopted
	}
	source := p.t.source()
	w := wanted{labels: source.Labels(), remember: look.Remember}
	var err error
	if source.Image, source.Family, err = p.image(ctx, look); err == nil {
		w.capacity, err = p.capacity(ctx, look)
	}
	if err != nil {
		look.Keep()
		return w, err
	}
	made, err := source.Build()
	if err != nil {
		look.Keep()
		return w, err
	}
	w.template = made
	return w, nil
}

// image returns the path of the image that machines boot. The newest image of a family is found once for each specification.
func (p translation) image(ctx context.Context, look *cache.Resolver) (image, family string, err error) {
	is, err := template.ImageOf(p.t.pool, p.t.KubernetesVersion, p.t.project)
	if err != nil || is.Family == "" {
		return is.Path, "", err
	}
	image, err = look.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: []string{is.Family, p.t.KubernetesVersion}, Good: func(answer string) bool { return session.ParseResource(answer).Name != "" },
		Ask: func(ctx context.Context) (string, error) {
			project, name := template.SplitFamily(is.Family)
			found, err := p.c.Compute.Images.GetFromFamily(project, name).Context(ctx).Do()
			if err = p.c.Refusal(err); session.Absent(err) {
				return "", cloud.Invalidf(is.Field, "there is no image of the family %s", is.Family)
			}
			if err != nil {
				return "", cloud.InField(err, is.Field)
			}
			return session.ParseResource(found.SelfLink).In(project).Path(), nil
		},
	})
	return image, is.Family, err
}

// machine is what is remembered of a machine type.
type machine struct {
	CPUs, MemoryMiB, Accelerators int    `json:",omitempty"`
	Accelerator, Architecture     string `json:",omitempty"`
}

// podsMost is how many pods a kubelet takes unless it is configured otherwise.
const podsMost = 110

// capacity returns what each machine offers, nil where no zone is known to ask about its type.
func (p translation) capacity(ctx context.Context, look *cache.Resolver) (*pool.NodeCapacity, error) {
	zone := p.zoneToAsk()
	if zone == "" {
		return nil, nil
	}
	name := p.t.pool.InstanceType
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "machine-type", Inputs: []string{p.t.project, zone, name}, Good: func(answer string) bool { return json.Unmarshal([]byte(answer), &machine{}) == nil },
		Ask: func(ctx context.Context) (string, error) {
			is, err := p.c.Compute.MachineTypes.Get(p.t.project, zone, name).Context(ctx).Do()
			if err = p.c.Refusal(err); session.Absent(err) {
				return "", cloud.Invalidf("spec.instanceType", "there is no machine type %s in zone %s", name, zone)
			}
			if err != nil {
				return "", err
			}
			return machineText(is)
		},
	})
	if err != nil {
		return nil, err
	}
	var is machine
	if err := json.Unmarshal([]byte(text), &is); err != nil {
		return nil, fmt.Errorf("read what is remembered of machine type %s: %w", name, err)
	}
	return p.offered(is), nil
}

// zoneToAsk is a zone of the group, empty if none is known.
func (p translation) zoneToAsk() string {
	switch {
	case p.t.place.zonal():
		return p.t.place.location
	case len(p.t.place.zones) > 0:
		return p.t.place.zones[0]
	}
	return ""
}

func machineText(is *compute.MachineType) (string, error) {
	m := machine{CPUs: int(is.GuestCpus), MemoryMiB: int(is.MemoryMb), Architecture: is.Architecture}
	for _, a := range is.Accelerators {
		m.Accelerator, m.Accelerators = a.GuestAcceleratorType, m.Accelerators+int(a.GuestAcceleratorCount)
	}
	text, err := json.Marshal(m)
	return string(text), err
}

// offered is what a machine of the type offers with the specification's accelerators.
func (p translation) offered(is machine) *pool.NodeCapacity {
	out := &pool.NodeCapacity{CPUs: is.CPUs, MemoryMiB: is.MemoryMiB, Pods: podsMost, OperatingSystem: "linux", Architecture: "amd64"}
	if strings.EqualFold(is.Architecture, "ARM64") {
		out.Architecture = "arm64"
	}
	devices := map[string]int{is.Accelerator: is.Accelerators}
	for _, a := range p.t.pool.GuestAccelerators {
		devices[session.LastName(a.Type)] += int(a.Count)
	}
	count := 0
	for name, n := range devices {
		if strings.HasPrefix(name, "nvidia-") {
			count += n
		}
	}
	if count > 0 {
		out.Devices = map[string]int{"nvidia.com/gpu": count}
	}
	return out
}
